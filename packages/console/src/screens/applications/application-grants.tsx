import type { AccessRule, Application } from '@sluice/sdk';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Button } from '../../ui/button.tsx';
import { Form, Submit, TextField } from '../../ui/form.tsx';
import { Badge, Card, Soft } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import styles from './applications.module.css';
import { GrantsEditor } from './grants-editor.tsx';

export function ApplicationGrants({ application }: { application: Application }) {
  const [editing, setEditing] = useState(false);
  const giving = useGiving();
  if (editing) return <Editor application={application} onDone={() => setEditing(false)} />;
  const { permissions, rules } = application;
  return (
    <>
      <Card
        title="Permissions"
        intro="They apply to the whole Tenant."
        acts={
          <Button
            small
            needs="application:update"
            refusal={giving.ofGrants(application)}
            onClick={() => setEditing(true)}
          >
            Change
          </Button>
        }
      >
        {permissions.length > 0 ? (
          <ul className={styles.permissions}>
            {permissions.map((permission) => (
              <li key={permission}>
                <code>{permission}</code>
              </li>
            ))}
          </ul>
        ) : (
          <Soft>None. Its rules decide what it may do.</Soft>
        )}
      </Card>
      {rules.length > 0 && (
        <Card
          title="Rules"
          intro="If several rules grant the same, the one with the lowest priority number applies."
          flush
        >
          <Table
            label="Rules"
            columns={columns}
            rows={rules.map((rule, position) => ({ ...rule, position }))}
            keyOf={({ position }) => String(position)}
          />
        </Card>
      )}
    </>
  );
}

const columns: readonly Column<AccessRule & { position: number }>[] = [
  { title: 'Priority', atEnd: true, cell: ({ priority }) => priority },
  { title: 'Container', cell: ({ container }) => <code>{container}</code> },
  { title: 'Callers see', cell: ({ transform }) => <Badge tone={transformTone[transform]}>{transform}</Badge> },
  { title: 'Permissions', cell: ({ permissions }) => <code>{permissions.join(', ')}</code> },
  { title: 'Description', from: 46, cell: ({ description }) => description },
];

const transformTone = { reveal: 'warn', mask: 'info', redact: 'good' } as const;

function Editor({ application, onDone }: { application: Application; onDone: () => void }) {
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
