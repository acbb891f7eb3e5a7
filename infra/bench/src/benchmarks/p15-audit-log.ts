import { measureLogExport, measureLogReading } from '../audit-log/measure-large-log.ts';
import { measureSequencing } from '../audit-log/measure-sequencing.ts';
import type { Benchmark } from '../benchmark.ts';

const name = 'audit';

/** Reading, export and ledger of the audit log. */
export const auditLog: readonly Benchmark[] = [
  {
    id: 'P15',
    name,
    work: 'GET /logs by each filter',
    goal: 'with `start` at most 2 × the time with 1,000 rows; with totals at most 20 ms more',
    peerName: 'the same with 1,000 rows',
    run: measureLogReading,
  },
  {
    id: 'P15-EXPORT',
    name,
    work: 'GET /logs/export of a whole log',
    goal: 'at most 2 × the time of COPY, and 100 MiB more memory',
    peerName: 'COPY of the same rows',
    run: measureLogExport,
  },
  {
    id: 'P15-LEDGER',
    name,
    work: 'rows of the audit log into the ledger',
    goal: '5,000 rows a second; below that 2 s behind at most',
    peerName: 'these limits',
    run: measureSequencing,
  },
];
