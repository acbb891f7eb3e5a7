import { basename } from 'node:path';
import { crc32 } from 'node:zlib';

/** A quarter of the slow tests runs with each commit, so that four commits in a row run all of them. */
export const shares = 4;

/** `npm run test:full`: every test, and of each the longest form. */
export const isFullRun = process.env.TEST_FULL === '1';

/**
 * `test`, for a control that starts programs: it shows that what a test looks for would be found. Only in the full run,
 * because a change seldom makes a control fail.
 */
export const fullRunOnly = (): jest.It => (isFullRun ? test : test.skip);

/** How many slow tests each file has so far. */
const counts = new Map<string, number>();

/**
 * `test`, for one that takes 300 ms of processor time or more: `slow('0.8 s')('a name', …)`, with the time as it was
 * measured, that of its own process and children. `npm test` runs a quarter of these tests, which changes with each
 * commit; `npm run test:full`, and a run of named files or tests, runs all.
 *
 * Only for tests that start no program, and for none of the promises: isolation, `answers-alike`, `ended-rights`,
 * `revoked-meanwhile`, revocation, and the committed OpenAPI.
 */
export function slow(_processorTime: `${number} s`): jest.It {
  const share = process.env.TEST_SLOW ?? 'all';
  const file = expect.getState().testPath ?? '';
  const count = counts.get(file) ?? 0;
  counts.set(file, count + 1);
  // Spread among files that have one as well as within those that have several.
  const own = (crc32(basename(file)) + count) % shares;
  return share === 'all' || Number(share) === own ? test : test.skip;
}
