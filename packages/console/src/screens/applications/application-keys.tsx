import type { Application, ApplicationKey } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Card, Soft } from '../../ui/layout.tsx';
import { NewSecret } from '../../ui/new-secret.tsx';
import { Fault, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** One to five keys, so that one can be replaced without an outage: add, deploy, delete the former. */
export function ApplicationKeys({ application: { id, name } }: { application: Application }) {
  const [shown, setShown] = useState<string>();
  const query = useQuery({
    queryKey: ['applications', id, 'keys'],
    queryFn: ({ signal }) => sluice.applications.keys.list(id, { signal }).toArray(),
  });
  const add = useChange({
    act: (options) => sluice.applications.keys.create(id, {}, options),
    said: ({ version }) => `Key ${version} was added`,
    onDone: ({ key }) => setShown(key),
  });
  const replace = useChange({
    act: (options) => sluice.applications.regenerate(id, options),
    said: () => `All keys of ${name} were replaced by one`,
    onDone: ({ key }) => setShown(key),
  });
  return (
    <Card
      title="Keys"
      intro="To replace one without an outage: add a key, deploy it, delete the former one."
      flush
      acts={
        <>
          <Button small icon="plus" needs="application:update" busy={add.isPending} onClick={() => add.mutate()}>
            Add a key
          </Button>
          <Confirm
            small
            act="Replace all"
            title={`Replace all keys of ${name}?`}
            text="Every key that it has now is refused as soon as this is confirmed. Do it when one has leaked."
            needs="application:update"
            change={replace}
          />
        </>
      }
    >
      <Fault error={add.error} />
      <Loaded query={query}>
        {(keys) => (
          <Table label="Keys" columns={columnsOf(id, keys.length === 1)} rows={keys} keyOf={(key) => key.id} />
        )}
      </Loaded>
      {shown && <NewSecret title={`A key of ${name}`} secret={shown} onClose={() => setShown(undefined)} />}
    </Card>
  );
}

function columnsOf(applicationId: string, isOnly: boolean): readonly Column<ApplicationKey>[] {
  return [
    { title: 'Version', tight: true, cell: ({ version }) => `Key ${version}` },
    { title: 'Id', from: 46, cell: ({ id }) => <Id id={id} /> },
    { title: 'Created', tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: 'Expires',
      from: 46,
      tight: true,
      cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : <Soft>never</Soft>),
    },
    {
      title: 'Delete',
      atEnd: true,
      cell: (key) => (isOnly ? <Soft>The last key stays</Soft> : <DeleteKey applicationId={applicationId} of={key} />),
    },
  ];
}

function DeleteKey({ applicationId, of: { id, version } }: { applicationId: string; of: ApplicationKey }) {
  const remove = useChange({
    act: (options) => sluice.applications.keys.delete(applicationId, id, options),
    said: () => `Key ${version} was deleted`,
  });
  return (
    <Confirm
      small
      act="Delete"
      title={`Delete key ${version}?`}
      text="Whoever still calls with it is refused as soon as this is confirmed."
      needs="application:update"
      change={remove}
    />
  );
}
