import type { Reactor } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Button } from '../../ui/button.tsx';
import { Submit } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { formulaQuery } from './formula-query.ts';
import { ReactorForm } from './reactor-form.tsx';

export default function ReactorEditor({ reactor, onDone }: { reactor: Reactor; onDone: () => void }) {
  const { id, formula_id } = reactor;
  const formula = useQuery({ ...formulaQuery(formula_id ?? ''), enabled: formula_id !== undefined });
  const edit = useEdit({
    resource: reactor,
    toDraft: ({ name, retryable, application_id, configuration }) => ({
      ...{ name, retryable, applicationId: application_id ?? '' },
      configuration: textsOf(configuration),
    }),
    read: () => sluice.reactors.get(id),
    act: (options, { applicationId, configuration: values, ...body }, base) => {
      // Only changes are sent, so that numbers stay numbers; null removes.
      const texts = textsOf(base.configuration);
      const changed = Object.entries(values).filter(([key, text]) => texts[key] !== text);
      const removed = Object.keys(texts).filter((key) => !Object.hasOwn(values, key));
      const merged = Object.fromEntries([...changed, ...removed.map((key) => [key, null] as const)]);
      const application = applicationId ? { id: applicationId } : null;
      return sluice.reactors.patch(id, { ...body, application, configuration: merged }, options);
    },
    said: ({ name }) => `The Reactor ${name} was changed`,
    onDone,
  });
  return (
    <Card title="Edit settings">
      <ReactorForm
        draft={edit.draft}
        onDraft={edit.setDraft}
        onSubmit={edit.save}
        error={edit.error ?? formula.error}
        formula={formula.data}
        acts={
          <>
            <Button onClick={onDone}>Cancel</Button>
            <Submit busy={edit.isSaving}>Save</Submit>
          </>
        }
      />
      <ChangedMeanwhile edit={edit} what="the Reactor" />
    </Card>
  );
}

function textsOf(configuration: Reactor['configuration'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(configuration).map(([key, value]) => [key, String(value)]));
}
