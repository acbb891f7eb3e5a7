import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Submit } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Guarded } from '../../ui/states.tsx';
import { emptyDraft, toBody } from './proxy-draft.ts';
import { ProxyForm } from './proxy-form.tsx';

export function ProxyNew() {
  return (
    <Page title="New Proxy" back={<Link to="/proxies">Proxies</Link>}>
      <Guarded needs="proxy:create" what="You cannot create Proxies">
        <NewProxy />
      </Guarded>
    </Page>
  );
}

function NewProxy() {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(emptyDraft);
  const unsaved = useUnsaved(draft !== emptyDraft);
  const create = useChange({
    unsaved,
    act: (options) => sluice.proxies.create(toBody(draft), options),
    said: ({ name }) => `The Proxy ${name} was created`,
    onDone: ({ id }) => navigate({ to: '/proxies/$id', params: { id } }),
  });
  return (
    <Card>
      <ProxyForm
        draft={draft}
        onDraft={setDraft}
        onSubmit={() => create.mutate()}
        error={create.error}
        acts={<Submit busy={create.isPending}>Create Proxy</Submit>}
      />
    </Card>
  );
}
