import type { ReactorFormula } from '@sluice/sdk';
import { sluice } from '../../api/client.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Button } from '../../ui/button.tsx';
import { Submit } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { type FormulaDraft, FormulaForm, toBody } from './formula-form.tsx';

/** Of the settings, apart from the page, because few visits need it. */
export default function FormulaEditor({ formula, onDone }: { formula: ReactorFormula; onDone: () => void }) {
  const { id } = formula;
  const edit = useEdit({
    resource: formula,
    toDraft: ({ name, description = '', configuration, request_parameters }): FormulaDraft => ({
      ...{ name, description, configuration, request_parameters },
    }),
    read: () => sluice.reactorFormulas.get(id),
    act: (options, draft, base) => {
      const { code, icon } = base;
      return sluice.reactorFormulas.update(
        id,
        { ...toBody(draft), code, ...(icon !== undefined && { icon }) },
        options,
      );
    },
    said: ({ name }) => `The formula ${name} was changed`,
    onDone,
  });
  return (
    <Card
      title="Edit settings"
      intro="When you change the formula, existing Reactors are not checked. The configuration of a Reactor is checked the next time that you change this Reactor."
    >
      <FormulaForm
        draft={edit.draft}
        onDraft={edit.setDraft}
        onSubmit={edit.save}
        error={edit.error}
        acts={
          <>
            <Button onClick={onDone}>Cancel</Button>
            <Submit busy={edit.isSaving}>Save</Submit>
          </>
        }
      />
      <ChangedMeanwhile edit={edit} what="the formula" />
    </Card>
  );
}
