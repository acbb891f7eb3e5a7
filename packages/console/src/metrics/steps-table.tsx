import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { useTimeZone } from '../ui/time.tsx';
import { KnownFrom } from './known-from.tsx';
import styles from './metrics.module.css';
import { stepOf, stepText } from './step-text.ts';
import { countText, failuresOf, millisecondsText } from './sums.ts';
import type { RangeMetrics } from './use-metrics.ts';

interface Row {
  time: string;
  requests: string;
  failed: string;
  theirs: string;
  p50: string;
  p99: string;
}

const columns: readonly Column<Row>[] = [
  { title: 'Step', tight: true, cell: ({ time }) => time },
  { title: 'Invocations', atEnd: true, cell: ({ requests }) => requests },
  { title: 'Failed', atEnd: true, cell: ({ failed }) => failed },
  { title: 'Destination errors', atEnd: true, cell: ({ theirs }) => theirs },
  { title: 'Median', atEnd: true, cell: ({ p50 }) => p50 },
  { title: '99% below', atEnd: true, cell: ({ p99 }) => p99 },
];

/** The numbers of the charts, newest first, and what the hatched part of the charts means. */
export function StepsTable({ metrics }: { metrics: RangeMetrics }) {
  const timeZone = useTimeZone();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <div className={styles.foot}>
        <KnownFrom metrics={metrics} />
        <Button small onClick={() => setIsOpen(!isOpen)} aria-expanded={isOpen}>
          {isOpen ? 'Hide the table' : 'Show as a table'}
        </Button>
      </div>
      {isOpen && (
        <Table label="Metrics by step" columns={columns} rows={rowsOf(metrics, timeZone)} keyOf={({ time }) => time} />
      )}
    </>
  );
}

function rowsOf(metrics: RangeMetrics, timeZone: string | undefined): Row[] {
  const { from, to, requests, destination_errors: theirs, latency_ms: latency } = metrics;
  const failed = failuresOf(metrics);
  const rangeMs = Date.parse(to) - Date.parse(from);
  const rows = requests.map((count, at) => ({
    time: stepText(stepOf(metrics, at), rangeMs, timeZone),
    requests: countText(count),
    failed: countText(failed[at]),
    theirs: countText(theirs[at]),
    p50: millisecondsText(latency.p50[at]),
    p99: millisecondsText(latency.p99[at]),
  }));
  return rows.reverse();
}
