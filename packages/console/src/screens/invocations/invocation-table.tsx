import { Link } from '@tanstack/react-router';
import { ThingLink } from '../../app/thing-link.tsx';
import { Soft } from '../../ui/layout.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Clock } from '../../ui/time.tsx';
import styles from './invocations.module.css';
import type { LiveRow } from './live-invocations.ts';
import { whyRefused } from './refusals.ts';
import { StageBar } from './stage-bar.tsx';
import { StatusBadge } from './status-badge.tsx';

interface InvocationTableProps {
  rows: readonly LiveRow[];
  /** Of Proxies and Applications. */
  names: ReadonlyMap<string, string>;
  onOpen: (row: LiveRow) => void;
}

export function InvocationTable({ rows, names, onOpen }: InvocationTableProps) {
  const columns: readonly Column<LiveRow>[] = [
    {
      title: 'When',
      width: '10rem',
      cell: (row) => (
        <button type="button" className={styles.open} onClick={() => onOpen(row)}>
          <Clock at={row.at} />
        </button>
      ),
    },
    { title: 'Method', width: '4.75rem', cell: ({ method }) => <code>{method}</code> },
    { title: 'Status', width: '4.5rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      title: 'Destination',
      width: '6.5rem',
      cell: ({ destination_status: status }) => (status ? <StatusBadge status={status} /> : <Soft>—</Soft>),
    },
    {
      title: 'Refused, because',
      width: '11rem',
      cell: ({ refused_by: code }) => code && <span title={whyRefused(code)}>{whyRefused(code)}</span>,
    },
    { title: 'Stages', width: '9rem', cell: ({ stages_ms: stagesMs }) => <StageBar stagesMs={stagesMs} /> },
    { title: 'Tokens', width: '6.5rem', cell: ({ token_ids: tokens }) => <Tokens tokens={tokens} /> },
    {
      title: 'Trace id',
      width: '7rem',
      cell: ({ trace_id: traceId }) => (
        <Link to="/invocations" search={{ trace_id: traceId }} title={traceId}>
          <code>{traceId}</code>
        </Link>
      ),
    },
    {
      title: 'Proxy',
      width: '8rem',
      cell: ({ proxy_id: id }) => <ThingLink type="proxy" id={id} name={names.get(id)} />,
    },
  ];
  return <Table label="Invocations" columns={columns} rows={rows} keyOf={({ id }) => id} steady />;
}

function Tokens({ tokens: [first, ...more] }: { tokens: readonly string[] }) {
  if (first === undefined) return <Soft>none</Soft>;
  return (
    <>
      {more.length > 0 && <Soft>{more.length + 1}: </Soft>}
      <ThingLink type="token" id={first} />
    </>
  );
}
