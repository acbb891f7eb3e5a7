import type { Log } from '@sluice/sdk';
import { Link } from '@tanstack/react-router';
import { nameOf, useMe } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Badge, Soft, type Tone } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { entityTypes, type Operation, operations } from './audit-search.ts';
import { guardHitsOf } from './guard-hits.ts';
import { type RefusedUse as Refusal, refusedUsesOf } from './refused-uses.ts';

const tones: Readonly<Partial<Record<Operation, Tone>>> = {
  create: 'good',
  read: 'info',
  use: 'info',
  update: 'warn',
  regenerate: 'warn',
  delete: 'bad',
  expire: 'bad',
};

interface LogTableProps {
  label: string;
  rows: readonly Log[];
  /** The token on whose page the table is shown. */
  tokenId?: string;
}

export function LogTable({ label, rows, tokenId }: LogTableProps) {
  const names = useNames('applications', rows.flatMap(applicationsOf));
  const columns: readonly Column<Log>[] = [
    {
      title: 'When',
      tight: true,
      cell: ({ id, entity_id, created_at: at }) => (
        <Link to="/audit/$id" params={{ id }} search={{ entity_id, at }}>
          <Time at={at} />
        </Link>
      ),
    },
    {
      title: 'Operation',
      tight: true,
      cell: ({ operation, detail }) =>
        refusedUsesOf(detail).length > 0 ? (
          <Badge tone="bad">Use refused</Badge>
        ) : guardHitsOf(detail) ? (
          <Badge tone="warn">Came back</Badge>
        ) : (
          <Badge tone={tones[operation]}>{operations[operation]}</Badge>
        ),
    },
    {
      title: 'Resource',
      cell: ({ entity_type: type, entity_id: id, detail, message }) => (
        <>
          <Soft>{entityTypes[type]}</Soft>{' '}
          {type === 'token' && id === tokenId ? 'itself' : <ThingLink type={type} id={id} name={names.get(id)} />}
          {guardHitsOf(detail) ? <div>{message}</div> : <Destination detail={detail} />}
          <Refused detail={detail} tokenId={tokenId} />
        </>
      ),
    },
    { title: 'Actor', cell: (row) => <Actor row={row} names={names} /> },
  ];
  return <Table label={label} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

function applicationsOf({ actor_type: actorType, actor_id: actor, entity_type: type, entity_id: id }: Log) {
  return [...(actorType === 'application' ? [actor] : []), ...(type === 'application' ? [id] : [])];
}

interface ActorProps {
  row: Pick<Log, 'actor_type' | 'actor_id'>;
  /** Of Applications. */
  names: ReadonlyMap<string, string>;
}

export function Actor({ row: { actor_type: type, actor_id: id }, names }: ActorProps) {
  const me = useMe();
  if (id === undefined) return 'The system';
  if (id === me.user?.id) return <>{nameOf(me)} (you)</>;
  return (
    <>
      <Soft>{type === 'application' ? 'Application' : type === 'user' ? 'User' : 'Session'}</Soft>{' '}
      <ThingLink type={type} id={id} name={names.get(id)} />
    </>
  );
}

/** Where the values of tokens went. */
function Destination({ detail }: { detail: Log['detail'] | undefined }) {
  const host = detail?.destination_host;
  if (typeof host !== 'string') return null;
  return (
    <div>
      <Soft>to</Soft> <code>{host}</code>
    </div>
  );
}

function Refused({ detail, tokenId }: { detail: Log['detail'] | undefined; tokenId: string | undefined }) {
  return refusedUsesOf(detail).map((refused) => (
    <div key={refused.tokenId}>
      <RefusedUse {...refused} isItself={refused.tokenId === tokenId} />
    </div>
  ));
}

interface RefusedUseProps extends Refusal {
  /** Whether it is the token on whose page the row is shown. */
  isItself?: boolean;
}

/** One token, and the member of its `use` that refused. */
export function RefusedUse({ tokenId, member, isItself }: RefusedUseProps) {
  return (
    <>
      {isItself ? (
        <Soft>Refused by</Soft>
      ) : (
        <>
          <Soft>Use of</Soft> <ThingLink type="token" id={tokenId} /> <Soft>refused by</Soft>
        </>
      )}{' '}
      <code>use.{member}</code>
    </>
  );
}
