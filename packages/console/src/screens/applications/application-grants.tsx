import type { AccessRule, Application } from '@sluice/sdk';
import { lazy, Suspense, useState } from 'react';
import { useGiving } from '../../api/giving.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, Soft } from '../../ui/layout.tsx';
import { Loading } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import styles from './applications.module.css';

/** Loaded when somebody changes something. */
const Editor = lazy(() => import('./application-editor.tsx'));

export function ApplicationGrants({ application }: { application: Application }) {
  const [editing, setEditing] = useState(false);
  const giving = useGiving();
  if (editing) {
    return (
      <Suspense fallback={<Loading />}>
        <Editor application={application} onDone={() => setEditing(false)} />
      </Suspense>
    );
  }
  const { permissions, rules } = application;
  return (
    <>
      <Card
        title="Permissions"
        intro="These permissions apply to the whole Tenant."
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
          intro="If several rules grant the same permission on a token, the one with the lowest priority number applies."
          flush
        >
          <Table
            label="Rules"
            columns={columns}
            rows={rules.map((rule, position) => ({ ...rule, position }))}
            keyOf={({ position }) => String(position)}
            stacks
          />
        </Card>
      )}
    </>
  );
}

const columns: readonly Column<AccessRule & { position: number }>[] = [
  { title: 'Container', cell: ({ container }) => <code>{container}</code> },
  { title: 'Priority', width: '6rem', cell: ({ priority }) => priority },
  {
    title: 'Callers see',
    width: '8rem',
    cell: ({ transform }) => (transform === 'reveal' ? <Badge tone="warn">reveal</Badge> : transform),
  },
  { title: 'Permissions', width: '30%', cell: ({ permissions }) => <code>{permissions.join(', ')}</code> },
  { title: 'Description', from: 46, width: '22%', cell: ({ description }) => description },
];
