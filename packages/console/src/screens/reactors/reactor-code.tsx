import type { Reactor } from '@sluice/sdk';
import { useMutation } from '@tanstack/react-query';
import { Suspense, useMemo, useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { useChange } from '../../api/use-change.ts';
import { Trial } from '../../code/trial.tsx';
import { reactorNames } from '../../editor/completions.ts';
import { CodeEditor } from '../../editor/lazy-editor.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/layout.tsx';
import { Fault, Loading } from '../../ui/states.tsx';

/** The code of a Reactor, and a run of it. */
export function ReactorCode({ reactor, code: kept }: { reactor: Reactor; code: string }) {
  const { id, name, configuration } = reactor;
  const [code, setCode] = useState(kept);
  const readOnly = useMissingRight('reactor:update') !== undefined;
  const names = useMemo(() => reactorNames(Object.keys(configuration ?? {})), [configuration]);
  const save = useChange({
    act: (options) => sluice.reactors.patch(id, { code }, options),
    said: () => `The code of ${name} was saved`,
  });
  const trial = useMutation({
    mutationFn: (args: Record<string, unknown>) =>
      sluice.reactors.test({ code, args, ...(configuration && { configuration }) }),
  });
  const { line, detail } = trial.data?.error ?? {};
  const fault = line === undefined ? undefined : { line, message: detail ?? 'Thrown here' };
  return (
    <>
      <Card
        title="Code"
        intro="Exports an async function. It returns raw, or body and headers; what stands in tokenize becomes tokens."
        acts={
          <Button small kind="primary" needs="reactor:update" busy={save.isPending} onClick={() => save.mutate()}>
            Save
          </Button>
        }
      >
        <Suspense fallback={<Loading />}>
          <CodeEditor
            label="Code of the Reactor"
            code={code}
            onCode={setCode}
            names={names}
            readOnly={readOnly}
            fault={fault}
          />
        </Suspense>
        <Fault error={save.error} />
      </Card>
      <Card
        title="Test run"
        intro="In the real sandbox. Expressions are not evaluated, fetch is refused, and nothing is stored."
      >
        <Trial needs="reactor:update" args={{ amount: 4200 }} trial={trial} />
      </Card>
    </>
  );
}
