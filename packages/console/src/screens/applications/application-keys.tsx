import type { Application, ApplicationKey } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Card, Soft } from '../../ui/layout.tsx';
import { NewSecret } from '../../ui/new-secret.tsx';
import { Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useWho } from '../settings/who.tsx';
import { ApplicationKeyNew } from './application-key-new.tsx';
import styles from './applications.module.css';
import { LastUse, lastUseInWords } from './last-use.tsx';

/** One to five keys, so that one can be replaced without an outage: add, deploy, delete the former once it is unused. */
export function ApplicationKeys({ application }: { application: Application }) {
  const { id, name } = application;
  const refusal = useGiving().ofGrants(application);
  const [isAdding, setIsAdding] = useState(false);
  const [shown, setShown] = useState<string>();
  const query = useQuery({
    queryKey: ['applications', id, 'keys'],
    queryFn: ({ signal }) => sluice.applications.keys.list(id, { signal }).toArray(),
  });
  const replace = useChange({
    act: (options) => sluice.applications.regenerate(id, options),
    said: () => `All keys of ${name} were replaced by one`,
    onDone: ({ key }) => setShown(key),
  });
  return (
    <Card
      title="Keys"
      intro="To replace a key without an outage, create a key, deploy it, and delete the old one once it is unused."
      flush
      acts={
        <>
          <Button small icon="plus" needs="application:update" refusal={refusal} onClick={() => setIsAdding(true)}>
            Create key
          </Button>
          <Confirm
            small
            act="Replace all"
            title={`Replace all keys of ${name}?`}
            text="When you confirm, every current key is refused. Do this if a key has leaked."
            needs="application:update"
            refusal={refusal}
            change={replace}
          />
        </>
      }
    >
      <Loaded query={query}>{(keys) => <Keys applicationId={id} keys={keys} refusal={refusal} />}</Loaded>
      {isAdding && (
        <ApplicationKeyNew
          application={application}
          onClose={() => setIsAdding(false)}
          onMade={({ key }) => {
            setIsAdding(false);
            setShown(key);
          }}
        />
      )}
      {shown && <NewSecret title={`A key of ${name}`} secret={shown} onClose={() => setShown(undefined)} />}
    </Card>
  );
}

interface KeysProps {
  applicationId: string;
  keys: readonly ApplicationKey[];
  /** Why none of them can be deleted. */
  refusal: string | undefined;
}

function Keys({ applicationId, keys, refusal }: KeysProps) {
  const who = useWho(keys.map(({ created_by: by }) => by));
  const columns: readonly Column<ApplicationKey>[] = [
    {
      title: 'Key',
      cell: ({ name, version, last_four: lastFour }) => (
        <>
          {name !== undefined && <div>{name}</div>}
          {name === undefined ? `Key ${version}` : <Soft>Key {version}</Soft>}
          {lastFour !== undefined && <Ending lastFour={lastFour} />}
        </>
      ),
    },
    {
      title: 'Last used',
      tight: true,
      width: '9.5rem',
      cell: ({ last_used_at: at, last_four: lastFour }) =>
        at ? <LastUse at={at} /> : <Soft>{lastFour === undefined ? 'no use recorded' : 'never'}</Soft>,
    },
    {
      title: 'Expires',
      tight: true,
      width: '9.5rem',
      cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : <Soft>never</Soft>),
    },
    {
      title: 'Created',
      from: 46,
      width: '14rem',
      cell: ({ created_at, created_by }) => (
        <>
          <Time at={created_at} />
          {created_by !== undefined && (
            <div>
              <Soft>by</Soft> {who(created_by)}
            </div>
          )}
        </>
      ),
    },
    {
      title: 'Action',
      atEnd: true,
      width: '8rem',
      cell: (key) => (
        <DeleteKey
          applicationId={applicationId}
          of={key}
          refusal={
            refusal ?? (keys.length === 1 ? 'The last key cannot be deleted. Create another one first.' : undefined)
          }
        />
      ),
    },
  ];
  return <Table label="Keys" columns={columns} rows={keys} keyOf={(key) => key.id} stacks />;
}

/** Its last ten characters without the last six, which are a checksum that is not stored. */
function Ending({ lastFour }: { lastFour: string }) {
  return (
    <div className={styles.ending} title="Sluice does not store the last six characters of a key">
      has <code>{lastFour}</code> before its last six characters
    </div>
  );
}

interface DeleteKeyProps {
  applicationId: string;
  of: ApplicationKey;
  refusal: string | undefined;
}

function DeleteKey({ applicationId, of: key, refusal }: DeleteKeyProps) {
  const { id, version, name, last_used_at: at } = key;
  const called = name === undefined ? `key ${version}` : `the key ${name}`;
  const remove = useChange({
    act: (options) => sluice.applications.keys.delete(applicationId, id, options),
    said: () => `Key ${version} was deleted`,
  });
  return (
    <Confirm
      small
      act="Delete"
      title={`Delete ${called}?`}
      text={
        <>
          <strong>{usedWhen(at)}</strong> When you confirm, every caller that still uses it is refused.
        </>
      }
      needs="application:update"
      refusal={refusal}
      change={remove}
    />
  );
}

function usedWhen(at: string | undefined): string {
  return at === undefined ? 'No use was recorded.' : `It was last used ${lastUseInWords(at)}.`;
}
