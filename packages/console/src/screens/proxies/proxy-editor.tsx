import type { Proxy as ProxyResource } from '@sluice/sdk';
import { sluice } from '../../api/client.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Button } from '../../ui/button.tsx';
import { Submit } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { toDraft, toPatch } from './proxy-draft.ts';
import { ProxyForm } from './proxy-form.tsx';

export default function ProxyEditor({ proxy, onDone }: { proxy: ProxyResource; onDone: () => void }) {
  const { id } = proxy;
  const edit = useEdit({
    resource: proxy,
    toDraft,
    read: () => sluice.proxies.get(id),
    act: (options, draft, base) => sluice.proxies.patch(id, toPatch(draft, base), options),
    said: ({ name }) => `The Proxy ${name} was changed`,
    onDone,
  });
  return (
    <Card title="Edit settings">
      <ProxyForm
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
      <ChangedMeanwhile edit={edit} what="the Proxy" />
    </Card>
  );
}
