import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Submit } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Guarded } from '../../ui/states.tsx';
import { firstCode } from '../reactors/first-code.ts';
import { type FormulaDraft, FormulaForm, toBody } from './formula-form.tsx';

const empty: FormulaDraft = { name: '', description: '', configuration: [], request_parameters: [] };

export function FormulaNew() {
  return (
    <Page title="New formula" back={<Link to="/reactors/formulas">Formulas</Link>}>
      <Guarded needs="reactor:create" what="You cannot create formulas">
        <NewFormula />
      </Guarded>
    </Page>
  );
}

function NewFormula() {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(empty);
  const unsaved = useUnsaved(draft !== empty);
  const create = useChange({
    unsaved,
    act: (options) => sluice.reactorFormulas.create({ ...toBody(draft), code: firstCode }, options),
    said: ({ name }) => `The formula ${name} was created`,
    onDone: ({ id }) => navigate({ to: '/reactors/formulas/$id', params: { id } }),
  });
  return (
    <Card title="The formula" intro="In the next step you write its code.">
      <FormulaForm
        draft={draft}
        onDraft={setDraft}
        onSubmit={() => create.mutate()}
        error={create.error}
        acts={<Submit busy={create.isPending}>Create formula</Submit>}
      />
    </Card>
  );
}
