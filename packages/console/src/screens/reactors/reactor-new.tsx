import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Guarded } from '../../ui/states.tsx';
import { type ReactorDraft, ReactorForm } from './reactor-form.tsx';

const empty: ReactorDraft = { name: '', applicationId: '', retryable: false, configuration: {} };

const beginning = `module.exports = async function (req) {
  const { args } = req;
  return { raw: args };
};
`;

export function ReactorNew() {
  return (
    <Page title="New Reactor" back={<Link to="/reactors">Reactors</Link>}>
      <Guarded needs="reactor:create" what="You cannot make Reactors">
        <NewReactor />
      </Guarded>
    </Page>
  );
}

function NewReactor() {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(empty);
  const create = useChange({
    act: (options) => {
      const { applicationId, ...body } = draft;
      const application = applicationId && { application: { id: applicationId } };
      return sluice.reactors.create({ ...body, code: beginning, ...application }, options);
    },
    said: ({ name }) => `The Reactor ${name} was made`,
    onDone: ({ id }) => navigate({ to: '/reactors/$id', params: { id } }),
  });
  return (
    <Card title="The Reactor" intro="Its code is written next.">
      <ReactorForm
        draft={draft}
        onDraft={setDraft}
        onSubmit={() => create.mutate()}
        error={create.error}
        acts={
          <Button kind="primary" type="submit" busy={create.isPending}>
            Make the Reactor
          </Button>
        }
      />
    </Card>
  );
}
