import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Submit } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Guarded } from '../../ui/states.tsx';
import { firstCode } from './first-code.ts';
import { FormulaChoice } from './formula-choice.tsx';
import { formulaQuery } from './formula-query.ts';
import { type ReactorDraft, ReactorForm } from './reactor-form.tsx';

const route = getRouteApi('/reactors/new');

const empty: ReactorDraft = { name: '', applicationId: '', retryable: false, configuration: {} };

export function ReactorNew() {
  return (
    <Page title="New Reactor" back={<Link to="/reactors">Reactors</Link>}>
      <Guarded needs="reactor:create" what="You cannot create Reactors">
        <NewReactor />
      </Guarded>
    </Page>
  );
}

function NewReactor() {
  const { formula: formulaId } = route.useSearch();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(empty);
  const unsaved = useUnsaved(draft !== empty);
  const { data: formula, error } = useQuery({ ...formulaQuery(formulaId ?? ''), enabled: formulaId !== undefined });
  const create = useChange({
    unsaved,
    act: (options) => {
      const { applicationId, ...body } = draft;
      const application = applicationId && { application: { id: applicationId } };
      const runs = formulaId ? { formula: { id: formulaId } } : { code: firstCode };
      return sluice.reactors.create({ ...body, ...runs, ...application }, options);
    },
    said: ({ name }) => `The Reactor ${name} was created`,
    onDone: ({ id }) => navigate({ to: '/reactors/$id', params: { id } }),
  });
  return (
    <Card title="The Reactor" intro={formulaId ? undefined : 'In the next step you write its code.'}>
      <ReactorForm
        draft={draft}
        onDraft={setDraft}
        onSubmit={() => create.mutate()}
        error={create.error}
        formula={formula}
        choice={
          <FormulaChoice
            formula={formula}
            value={formulaId}
            error={error ?? undefined}
            onValue={(id) => navigate({ to: '/reactors/new', search: id ? { formula: id } : {}, replace: true })}
          />
        }
        acts={<Submit busy={create.isPending}>Create Reactor</Submit>}
      />
    </Card>
  );
}
