import type { Application } from '@sluice/sdk';
import { sluice } from '../../api/client.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Button } from '../../ui/button.tsx';
import { Form, Submit, TextField } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { GrantsEditor } from './grants-editor.tsx';

export default function ApplicationEditor({ application, onDone }: { application: Application; onDone: () => void }) {
  const { id, type } = application;
  const edit = useEdit({
    resource: application,
    toDraft: ({ name, permissions, rules, proxies = null }) => ({ name, permissions, rules, proxies }),
    read: () => sluice.applications.get(id),
    act: (options, draft) => sluice.applications.update(id, draft, options),
    said: ({ name }) => `The Application ${name} was changed`,
    onDone,
  });
  const { name, ...grants } = edit.draft;
  const change = (part: Partial<typeof edit.draft>) => edit.setDraft({ ...edit.draft, ...part });
  return (
    <Card title="Edit permissions and rules">
      <Form
        wide
        onSubmit={edit.save}
        error={edit.error}
        acts={
          <>
            <Button onClick={onDone}>Cancel</Button>
            <Submit busy={edit.isSaving}>Save</Submit>
          </>
        }
      >
        <TextField
          label="Name"
          value={name}
          onText={(text) => change({ name: text })}
          maxLength={200}
          required
          name="name"
        />
        <GrantsEditor type={type} grants={grants} onGrants={change} />
      </Form>
      <ChangedMeanwhile edit={edit} what="the Application" />
    </Card>
  );
}
