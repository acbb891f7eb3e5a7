import type { ReactorFormula } from '@sluice/sdk';
import type { ReactNode } from 'react';
import { ApplicationChoice } from '../../code/application-choice.tsx';
import { ConfigurationEditor } from '../../code/configuration-editor.tsx';
import { Check, Form, TextField } from '../../ui/form.tsx';

export interface ReactorDraft {
  name: string;
  /** Empty for none. */
  applicationId: string;
  retryable: boolean;
  configuration: Readonly<Record<string, string>>;
}

interface ReactorFormProps {
  draft: ReactorDraft;
  onDraft: (draft: ReactorDraft) => void;
  onSubmit: () => void;
  error: Error | null;
  /** The formula that it runs. */
  formula?: ReactorFormula | undefined;
  /** Where somebody chooses what it runs. */
  choice?: ReactNode;
  acts: ReactNode;
}

/** All of a Reactor but its code. */
export function ReactorForm({ draft, onDraft, onSubmit, error, formula, choice, acts }: ReactorFormProps) {
  const change = (part: Partial<ReactorDraft>) => onDraft({ ...draft, ...part });
  return (
    <Form onSubmit={onSubmit} error={error} acts={acts}>
      <TextField
        label="Name"
        value={draft.name}
        onText={(name) => change({ name })}
        maxLength={200}
        required
        name="name"
      />
      {choice}
      <ApplicationChoice of="code" value={draft.applicationId} onValue={(applicationId) => change({ applicationId })} />
      <Check
        label="Repeat interrupted runs"
        hint="A gateway can stop during an asynchronous run whose code may already have called another service or changed a token. If this setting is on, the run is repeated, so this can happen twice. Otherwise the run fails. Turn the setting on only if a repetition does no harm."
        checked={draft.retryable}
        onChecked={(retryable) => change({ retryable })}
      />
      <ConfigurationEditor
        key={formula?.id}
        declared={formula?.configuration}
        value={draft.configuration}
        onValue={(configuration) => change({ configuration })}
      />
    </Form>
  );
}
