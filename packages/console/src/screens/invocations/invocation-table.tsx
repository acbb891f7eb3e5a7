import { Link, useNavigate } from '@tanstack/react-router';
import { ThingLink } from '../../app/thing-link.tsx';
import { Soft } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Clock } from '../../ui/time.tsx';
import { Called } from './called.tsx';
import { guardFound } from './guard-found.ts';
import type { InvocationSearch } from './invocation-search.ts';
import styles from './invocations.module.css';
import type { LiveRow } from './live-invocations.ts';
import { whyRefused } from './refusals.ts';
import { StageBar } from './stage-bar.tsx';
import { StatusBadge } from './status-badge.tsx';

interface InvocationTableProps {
  rows: readonly LiveRow[];
  /** Of Proxies, Reactors and Applications. */
  names: ReadonlyMap<string, string>;
  /** Of the list, which stay in the address. */
  filters: InvocationSearch;
}

export function InvocationTable({ rows, names, filters }: InvocationTableProps) {
  const navigate = useNavigate();
  const placeOf = ({ trace_id: traceId, at }: LiveRow) => ({
    to: '/invocations/$traceId' as const,
    params: { traceId },
    search: { ...filters, at },
  });
  const columns: readonly Column<LiveRow>[] = [
    {
      title: 'When',
      width: '7.75rem',
      cell: (row) => (
        <Link {...placeOf(row)} preload={false}>
          <Clock at={row.at} />
        </Link>
      ),
    },
    { title: 'Method', width: '4.25rem', from: 32, cell: ({ method }) => <code>{method}</code> },
    { title: 'Status', width: '3.75rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      title: 'Destination',
      width: '6rem',
      from: 54,
      cell: ({ destination_status: status }) => (status ? <StatusBadge status={status} /> : <Soft>—</Soft>),
    },
    {
      title: 'Called',
      cell: (row) => (
        <>
          <span className={styles.cut}>
            <Called invocation={row} names={names} />
          </span>
          <KeyOf id={row.application_id} names={names} />
        </>
      ),
    },
    {
      title: 'Reason',
      width: '18%',
      from: 32,
      cell: (row) => {
        const why = whyOf(row);
        return (
          why && (
            <span className={styles.why} title={why}>
              {why}
            </span>
          )
        );
      },
    },
    { title: 'Stages', width: '6rem', from: 46, cell: ({ stages_ms: stagesMs }) => <StageBar stagesMs={stagesMs} /> },
    { title: 'Tokens', width: '5.5rem', from: 46, cell: ({ token_ids: tokens }) => <Tokens tokens={tokens} /> },
    {
      title: 'Trace id',
      width: '5.75rem',
      from: 54,
      cell: ({ trace_id: traceId }) => (
        <Link to="/invocations" search={{ trace_id: traceId }} title={traceId} className={styles.cut}>
          <code>{traceId}</code>
        </Link>
      ),
    },
  ];
  return (
    <Table
      label="Invocations"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      onOpen={(row) => navigate(placeOf(row))}
      steady
    />
  );
}

function KeyOf({ id, names }: { id: string | undefined; names: InvocationTableProps['names'] }) {
  return (
    <span className={`${styles.cut} ${styles.small}`}>
      by {id === undefined ? 'nobody' : <ThingLink type="application" id={id} name={names.get(id)} />}
    </span>
  );
}

/** Why it was refused, or why its response was changed. */
function whyOf({ refused_by: code, detail, guard_hits: hits }: LiveRow): string | undefined {
  if (hits !== undefined) return guardFound(hits);
  return detail ?? (code && whyRefused(code));
}

function Tokens({ tokens: [first, ...more] }: { tokens: readonly string[] }) {
  if (first === undefined) return <Soft>none</Soft>;
  return (
    <>
      <span className={styles.cut}>
        <ThingLink type="token" id={first} />
      </span>
      {more.length > 0 && <Soft>and {more.length} more</Soft>}
    </>
  );
}
