import type { Test } from '@jest/test-result';

/**
 * Seconds of the files that take longest, by the end of their paths: rough, and only for their order. Jest knows how long
 * files took only where they have run before, and takes the largest first elsewhere, as in CI; but a file of ten lines may
 * start twenty processes, and the last one would then keep one core busy alone.
 */
const seconds: Readonly<Record<string, number>> = {
  'faults/quick.test.ts': 190,
  'local/src/launcher.system.test.ts': 90,
  'weakened/weakened.test.ts': 85,
  'e2e/src/bombs.test.ts': 80,
  'memory/gateway-memory.test.ts': 80,
  'runbooks/settings.test.ts': 75,
  'runbooks/data.test.ts': 70,
  'docker/src/images.system.test.ts': 60,
  'command-line/command-line.test.ts': 50,
  'e2e/src/packed.test.ts': 50,
  'all-operations/query-plans.system.test.ts': 45,
  'keys/keys.command.system.test.ts': 40,
  'console/snippets.browser.test.ts': 40,
  'console/invocations.browser.test.ts': 40,
  'monitoring/src/monitoring.system.test.ts': 40,
};

/** Files that share a platform, or a fill that the others would wait for: one process runs all of a row, in this order, and ends what they share. */
const sharing: readonly (readonly string[])[] = [
  [
    'e2e/src/packed.test.ts',
    'command-line/command-line.test.ts',
    'command-line/apply.test.ts',
    'command-line/route-sessions.test.ts',
    'command-line/run.test.ts',
    'e2e/src/main-job.test.ts',
    'published-clients/published-clients.test.ts',
    'e2e/src/sessions.test.ts',
    'e2e/src/clients.test.ts',
  ],
  ['monitoring/src/monitoring.system.test.ts', 'monitoring/src/traces.system.test.ts'],
  [
    'all-operations/query-plans.system.test.ts',
    'packages/vault/src/query-plans.system.test.ts',
    'rotation/query-plans.system.test.ts',
    'worker/src/query-plans.system.test.ts',
  ],
];

function rankOf({ path, duration }: Test): number {
  if (duration !== undefined) return duration / 1000;
  return Object.entries(seconds).find(([end]) => path.endsWith(end))?.[1] ?? 0;
}

const rankOfAll = (tests: readonly Test[]) => tests.reduce((sum, test) => sum + rankOf(test), 0);

/** Groups that one process each runs in turn, the slowest first; in the order in which they come where nothing is known. */
export function slowestFirst(tests: readonly Test[]): Test[][] {
  const groups = Map.groupBy(tests, (test) => sharing.find((ends) => isOneOf(ends, test)) ?? test);
  const inOrder = Array.from(groups, ([key, group]) => {
    if (!Array.isArray(key)) return group;
    return key.flatMap((end) => group.filter(({ path }) => path.endsWith(end)));
  });
  return inOrder.toSorted((a, b) => rankOfAll(b) - rankOfAll(a));
}

function isOneOf(ends: readonly string[], { path }: Test): boolean {
  return ends.some((end) => path.endsWith(end));
}
