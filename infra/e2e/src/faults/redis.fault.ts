import { freeze } from '../cluster/frozen.ts';
import { runUnderLoad } from '../under-load/run-under-load.ts';
import type { FaultTest } from './fault-test.ts';

export const redisFrozen: FaultTest = {
  name: 'redis-frozen',
  description: 'Redis hangs for 8 s: no invocation fails or waits for it',
  run: (context) =>
    runUnderLoad(context, {
      mostFailed: 0,
      async disturb({ site, pause }) {
        const frozen = await freeze(site.stores.processes.get('redis')?.pid ?? 0);
        try {
          await pause(8000);
        } finally {
          await frozen.thaw();
        }
        return undefined;
      },
    }),
};
