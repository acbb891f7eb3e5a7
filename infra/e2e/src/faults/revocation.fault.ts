import { runRevocation } from '../coherence/run-revocation.ts';
import type { FaultTest } from './fault-test.ts';

export const revocation: FaultTest = {
  name: 'revocation',
  description:
    '10,000 regenerations by 12 of 32 clients while gateways, Redis, Postgres backends and connections hang and die: no revoked key is accepted',
  run: (context) =>
    runRevocation({ ...context, regenerations: 10_000, quietMs: 15_000, nemesisMs: 60_000, limitMs: 900_000 }),
};
