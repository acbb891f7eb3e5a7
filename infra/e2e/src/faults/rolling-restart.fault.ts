import { restartEach, unexpectedAnswers } from '../under-load/restart-each.ts';
import { runUnderLoad } from '../under-load/run-under-load.ts';
import type { FaultTest } from './fault-test.ts';

export const rollingRestart: FaultTest = {
  name: 'rolling-restart',
  description: 'every process is asked to end and started again, one after another: no invocation and no write fails',
  run: (context) =>
    runUnderLoad(context, {
      mostFailed: 0,
      environment: { SHUTDOWN_DRAIN_MS: '1500' },
      disturb: ({ nodes }) => restartEach(nodes),
      after: async (_world, seen) => ({ failures: unexpectedAnswers(seen) }),
    }),
};
