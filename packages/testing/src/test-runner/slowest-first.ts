import type { Test } from '@jest/test-result';

/**
 * Seconds of the files that take longest, by the end of their paths: rough, and only for their order. Jest knows how long
 * files took only where they have run before, and takes the largest first elsewhere, as in CI; but a file of ten lines may
 * start twenty processes, and the last one would then keep one core busy alone.
 */
const seconds: Readonly<Record<string, number>> = {
  'docker/src/images.system.test.ts': 120,
  'faults/quick.test.ts': 110,
  'local/src/launcher.system.test.ts': 90,
  'coherence/revocation.test.ts': 90,
  'weakened/weakened.test.ts': 80,
  'e2e/src/bombs.test.ts': 80,
  'runbooks/settings.test.ts': 75,
  'runbooks/data.test.ts': 70,
  'monitoring/src/traces.system.test.ts': 50,
};

/** They come last, because the platform that they share costs processor time as long as it runs. */
const sharing = [
  'command-line/command-line.test.ts',
  'command-line/apply.test.ts',
  'e2e/src/packed.test.ts',
  'e2e/src/main-job.test.ts',
  'published-clients/published-clients.test.ts',
  'e2e/src/sessions.test.ts',
  'e2e/src/clients.test.ts',
];

function rankOf({ path, duration }: Test): number {
  if (sharing.some((end) => path.endsWith(end))) return -1;
  if (duration !== undefined) return duration / 1000;
  return Object.entries(seconds).find(([end]) => path.endsWith(end))?.[1] ?? 0;
}

/** The slowest first; in the order in which they come where nothing is known. */
export function slowestFirst(tests: readonly Test[]): Test[] {
  return tests.toSorted((a, b) => rankOf(b) - rankOf(a));
}
