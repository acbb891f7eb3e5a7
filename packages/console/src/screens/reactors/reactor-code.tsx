import { useMutation } from '@tanstack/react-query';
import { type ReactNode, Suspense, useMemo } from 'react';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import type { Edit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { faultOfTrial, Trial } from '../../code/trial.tsx';
import { reactorNames } from '../../editor/completions.ts';
import { CodeEditor } from '../../editor/lazy-editor.tsx';
import { Form, Submit } from '../../ui/form.tsx';
import { Card, SideBySide } from '../../ui/layout.tsx';
import { Loading } from '../../ui/states.tsx';

interface ReactorCodeProps {
  /** Of the editor. */
  label: string;
  /** What {@link ChangedMeanwhile} calls it. */
  what: string;
  /** From `useEdit`. */
  edit: Edit<object, string>;
  /** For test runs; its names are completed. */
  configuration: Readonly<Record<string, string | number | boolean>>;
  /** The argument for the first test run. */
  args: object;
  /** Where the configuration of test runs is written, if it is not stored. */
  fields?: ReactNode;
}

/** The code of a Reactor or of a formula, and a run of it. */
export function ReactorCode({ label, what, edit, configuration, args, fields }: ReactorCodeProps) {
  const { draft: code, setDraft: setCode } = edit;
  const readOnly = useMissingRight('reactor:update') !== undefined;
  const names = useMemo(() => reactorNames(Object.keys(configuration)), [configuration]);
  const trial = useMutation({
    mutationFn: (given: Record<string, unknown>) => sluice.reactors.test({ code, args: given, configuration }),
  });
  return (
    <SideBySide>
      <Card
        title="Code"
        intro='The code exports an async function. The function returns an object with any of the fields "raw", "body", "headers" and "tokenize". The values in "tokenize" become tokens. The other fields are the response.'
      >
        <Form
          wide
          onSubmit={edit.save}
          error={edit.error}
          acts={
            <Submit needs="reactor:update" busy={edit.isSaving}>
              Save
            </Submit>
          }
        >
          <Suspense fallback={<Loading />}>
            <CodeEditor
              label={label}
              name="code"
              code={code}
              onCode={setCode}
              names={names}
              readOnly={readOnly}
              fault={faultOfTrial(trial)}
            />
          </Suspense>
        </Form>
        <ChangedMeanwhile edit={edit} what={what} />
      </Card>
      <Card
        title="Test run"
        intro="Runs in the real sandbox. Expressions are not evaluated, fetch is refused, and nothing is stored."
      >
        {fields}
        <Trial needs="reactor:update" args={args} trial={trial} />
      </Card>
    </SideBySide>
  );
}
