import { runSoak } from '../soak/run-soak.ts';
import type { FaultTest } from './fault-test.ts';

export const soak: FaultTest = {
  name: 'soak',
  description:
    '20 minutes of everything with random faults: nothing leaks, nothing is lost, no revoked key is accepted',
  run: (context) => runSoak({ ...context, faultsMs: 16 * 60_000, calmMs: 60_000 }),
};
