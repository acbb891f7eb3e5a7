import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Guarded } from '../../ui/states.tsx';
import { firstCode } from '../reactors/first-code.ts';
import { type FormulaDraft, FormulaForm, toBody } from './formula-form.tsx';

const empty: FormulaDraft = { name: '', description: '', configuration: [], request_parameters: [] };

export function FormulaNew() {
  return (
    <Page title="New formula" back={<Link to="/reactors/formulas">Formulas</Link>}>
      <Guarded needs="reactor:create" what="You cannot make formulas">
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
    said: ({ name }) => `The formula ${name} was made`,
    onDone: ({ id }) => navigate({ to: '/reactors/formulas/$id', params: { id } }),
  });
  return (
    <Card title="The formula" intro="Its code is written next.">
      <FormulaForm
        draft={draft}
        onDraft={setDraft}
        onSubmit={() => create.mutate()}
        error={create.error}
        acts={
          <Button kind="primary" type="submit" busy={create.isPending}>
            Make the formula
          </Button>
        }
      />
    </Card>
  );
}
