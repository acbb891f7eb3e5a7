import { measureAuditLog } from '../audit-log/measure-audit-log.ts';
import type { Benchmark } from '../benchmark.ts';

export const auditLog: Benchmark = {
  id: 'P15',
  name: 'audit',
  work: 'GET /logs by each filter beside 1,000 rows; export of 1,000,000 rows; rows that the ledger sequences',
  goal: 'with `start` at most 2 ×; export at most 2 × the time of COPY; 5,000 rows a second into the ledger',
  peerName: 'the same with 1,000 rows; COPY; that limit',
  run: measureAuditLog,
};
