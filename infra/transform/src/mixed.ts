import { type MixedLoad, quantile, runMixedLoad } from '@sluice/sandbox/hostile';
import type { Output } from './test-transform.ts';

const rounds = 4;
const load = { perSecond: 200, seconds: 20, threads: 3 };
/** Numbers of Tenants that own the hostile programs. The others are compared with the first, which has none. */
const variants = [0, 1, 3];
const mostLost = 0.001;

/**
 * Runs the same good load alone and with 5 % hostile programs, in turns, so that a slow phase of the machine affects
 * both.
 * @returns whether the good load lost less than 0.1 %. Its p99 is printed, but does not decide.
 */
export async function runMixed(output: Output): Promise<boolean> {
  const { perSecond, seconds, threads } = load;
  output.out(
    `${perSecond} transforms a second for ${seconds} s, ${rounds} rounds, ${threads} threads; 5 % are hostile, and belong to as many Tenants as are named\n`,
  );
  output.out(line('hostile Tenants', ['requests', 'lost', 'p50 ms', 'p99 ms', 'max ms', 'hostile', 'refused']));
  const runs = new Map<number, MixedLoad[]>(variants.map((hostileTenants) => [hostileTenants, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [hostileTenants, results] of runs) {
      const result = await runMixedLoad({ ...load, hostileTenants });
      results.push(result);
      output.out(lineOf(hostileTenants, result));
    }
  }
  const p99OfAlone = p99OfAll(runs.get(0) ?? []);
  output.out('\nAll rounds together:');
  let isHeld = true;
  for (const [hostileTenants, results] of runs) {
    const p99 = p99OfAll(results);
    const invocations = results.reduce((sum, { good }) => sum + good.invocations, 0);
    const losses = results.flatMap(({ good }) => good.losses);
    output.out(
      `${hostileTenants} hostile Tenants: ${losses.length} of ${invocations} lost, p99 ${p99.toFixed(1)} ms, ${(p99 / p99OfAlone).toFixed(2)} × that without`,
    );
    for (const reason of new Set(losses)) output.out(`  lost: ${reason.slice(0, 200)}`);
    isHeld &&= losses.length < invocations * mostLost;
  }
  return isHeld;
}

const lineOf = (hostileTenants: number, { good, hostile, refused }: MixedLoad) =>
  line(hostileTenants === 0 ? 'none' : String(hostileTenants), [
    ...[good.invocations, good.losses.length].map(String),
    ...[0.5, 0.99, 1].map((part) => quantile(good.durationsMs, part).toFixed(1)),
    ...[hostile, refused].map(String),
  ]);

const line = (name: string, columns: string[]) =>
  name.padEnd(16) + columns.map((column) => column.padStart(9)).join('');

function p99OfAll(results: readonly MixedLoad[]): number {
  const sorted = results.flatMap(({ good }) => good.durationsMs).sort((a, b) => a - b);
  return quantile(sorted, 0.99);
}
