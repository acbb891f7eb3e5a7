import { type PermissionName, SluiceError } from '@sluice/sdk';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { CodeFault } from '../editor/code-faults.ts';
import { Button } from '../ui/button.tsx';
import { placeIn } from '../ui/faults-in-words.ts';
import { TextArea } from '../ui/form.tsx';
import { shortcuts } from '../ui/shortcuts.ts';
import { Fault } from '../ui/states.tsx';
import styles from './code.module.css';
import { type TrialOutcome, TrialResult } from './trial-result.tsx';

interface TrialProps {
  needs: PermissionName;
  /** Initial arguments. */
  args: object;
  trial: UseMutationResult<TrialOutcome, Error, Record<string, unknown>>;
}

/** Runs code with arguments that are written as JSON. */
export function Trial({ needs, args, trial }: TrialProps) {
  const [text, setText] = useState(JSON.stringify(args, null, 2));
  const [fault, setFault] = useState<string>();
  const run = () => {
    const parsed = parse(text);
    setFault(parsed ? undefined : 'This is not a JSON object.');
    if (parsed) trial.mutate(parsed);
  };
  return (
    <>
      <TextArea
        label="req.args"
        mono
        rows={9}
        value={text}
        onText={setText}
        error={fault}
        hint="As JSON. Do not use real values."
      />
      <div className={styles.acts}>
        <Button {...shortcuts.run} needs={needs} busy={trial.isPending} onClick={run}>
          Run
        </Button>
      </div>
      <Fault error={trial.error} />
      {trial.data && <TrialResult result={trial.data} />}
    </>
  );
}

/** Where the code of the last run threw, or where it does not compile. */
export function faultOfTrial({ data, error }: TrialProps['trial']): CodeFault | undefined {
  const { line, detail } = data?.error ?? {};
  if (line !== undefined) return { line, message: detail ?? 'Thrown here' };
  const [message] = error instanceof SluiceError ? Object.values(error.errors ?? {}).flat() : [];
  const place = placeIn(message);
  return message !== undefined && place ? { ...place, message } : undefined;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined; // shown beside the field
  }
}
