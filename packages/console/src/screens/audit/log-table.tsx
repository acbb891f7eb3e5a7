import type { Log } from '@sluice/sdk';
import { Link } from '@tanstack/react-router';
import { ThingLink } from '../../app/thing-link.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './audit.module.css';
import { guardHitsOf } from './guard-hits.ts';
import { happeningOf } from './happenings.ts';
import { Actor, type LogNames, Resource } from './log-names.tsx';
import { type RefusedUse as Refusal, refusedUsesOf } from './refused-uses.ts';

interface LogTableProps {
  label: string;
  rows: readonly Log[];
  names: LogNames;
  /** The token on whose page the table is shown. */
  tokenId?: string;
}

export function LogTable({ label, rows, names, tokenId }: LogTableProps) {
  const columns: readonly Column<Log>[] = [
    {
      title: 'Event',
      tight: true,
      cell: (row) => (
        <>
          <Link
            className={styles.event}
            to="/audit/$id"
            params={{ id: row.id }}
            search={{ entity_id: row.entity_id, at: row.created_at }}
          >
            <Event row={row} />
          </Link>
          <div className={styles.brief}>
            <Time at={row.created_at} />
          </div>
        </>
      ),
    },
    {
      title: 'Resource',
      cell: (row) => (
        <div className={styles.things}>
          <Resource row={row} names={names} tokenId={tokenId} />
          {guardHitsOf(row.detail) ? <div>{row.message}</div> : <Destination detail={row.detail} />}
          <Refused detail={row.detail} tokenId={tokenId} />
          <div className={styles.brief}>
            by <Actor row={row} names={names} />
          </div>
        </div>
      ),
    },
    {
      title: 'Actor',
      from: 32,
      cell: (row) => (
        <div className={styles.things}>
          <Actor row={row} names={names} />
        </div>
      ),
    },
    { title: 'Time', from: 32, tight: true, cell: ({ created_at: at }) => <Time at={at} /> },
  ];
  return <Table label={label} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

/** What happened. What a person should look at stands out. */
function Event({ row }: { row: Log }) {
  const said = happeningOf(row);
  if (refusedUsesOf(row.detail).length > 0) return <Badge tone="bad">{said}</Badge>;
  return guardHitsOf(row.detail) ? <Badge tone="warn">{said}</Badge> : said;
}

/** Where the values of tokens went. */
function Destination({ detail }: { detail: Log['detail'] | undefined }) {
  const host = detail?.destination_host;
  if (typeof host !== 'string') return null;
  return (
    <>
      {' '}
      <Soft>to</Soft> <code>{host}</code>
    </>
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
