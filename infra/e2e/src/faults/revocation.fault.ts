import type { Client } from '../coherence/client.ts';
import type { KeyChange } from '../coherence/history.ts';
import { startLoad } from '../coherence/load.ts';
import { type NemesisOptions, startNemesis } from '../coherence/nemesis.ts';
import { startSignInLoad } from '../coherence/sign-in-load.ts';
import { countKinds } from '../under-load/count.ts';
import { endsOf, isAt, type Seen } from '../under-load/judgement.ts';
import { type LoadFault, underLoad } from '../under-load/run.ts';
import { type LoadShape, usualLoad, type World } from '../under-load/world.ts';

export interface RevocationOptions {
  /** At least so many successes once the faults have begun. */
  regenerations: number;
  /** How long nothing fails, before and after. */
  quietMs: number;
  nemesisMs: number;
  /** After which the nemesis ends, and the test has failed if there were too few regenerations. */
  limitMs: number;
}

/** Changes of keys in quick succession, and clients of which some wait for a short time. */
const manyChanges: LoadShape = {
  ...usualLoad,
  applications: 12,
  severalKeys: 4,
  readers: 20,
  regenerationPauseMs: 50,
  isBalanced: false,
  patienceMs: (random) => random.between(1000, 8000),
};

/**
 * Regenerates keys, adds, deletes and lets expire single ones, and uses valid, revoked and expired ones everywhere; lets
 * people sign in and puts them out; while a nemesis disturbs the system.
 */
export const revocation = (options: RevocationOptions): LoadFault =>
  underLoad(
    'revocation',
    `${options.regenerations} regenerations by 18 of 50 clients while gateways, Redis, Postgres backends and connections hang and die: no revoked key is accepted`,
    {
      quietBeforeMs: options.quietMs,
      quietAfterMs: options.quietMs,
      // How long it takes is shown and not judged, since all that hung is worked off by as many clients.
      recoveryMs: Number.POSITIVE_INFINITY,
      beside: async (world) => [await startLoad(world, manyChanges), await startSignInLoad(world)],
      async disturb(world) {
        const from = performance.now();
        await changeWhileHeld(world);
        await disturbAtRandom(world, {}, () => untilEnough(world, options));
        world.judges.push((seen) => judge(world, seen, { from, least: options.regenerations }));
      },
    },
  );

/** Much longer than a lease. */
const mostHeldMs = 60_000;

export async function disturbAtRandom(world: World, options: NemesisOptions, act: () => Promise<void>): Promise<void> {
  const nemesis = startNemesis(world, options);
  try {
    await Promise.race([act(), nemesis.broken]);
  } finally {
    await nemesis.stop();
  }
  world.report.figure('faults', countKinds(world.faults.map(({ name }) => name)));
}

/**
 * A gateway that hangs acknowledges nothing. Changes wait until its lease has ended, and must not wait for the gateway:
 * it goes on hanging until one is confirmed.
 */
async function changeWhileHeld({ inTurn, client, until, report }: World): Promise<void> {
  const frozen = await inTurn('proxy-gateway', 0).freeze();
  const frozenAt = performance.now();
  const isNew = ({ startedAt, outcome }: KeyChange) => startedAt > frozenAt && outcome === 'confirmed';
  const isConfirmed = () => client.history().regenerations.some(isNew);
  const isSo = await until(isConfirmed, mostHeldMs).finally(frozen.thaw);
  report.failIf(!isSo, 'no change of keys was confirmed while a gateway hung');
}

const countConfirmed = (client: Client, from: number) =>
  client.history().regenerations.filter(({ outcome, startedAt }) => outcome === 'confirmed' && startedAt > from).length;

const secondsBetweenLines = 30;

/** Until there were faults for long enough and enough regenerations, or there is no more time. */
async function untilEnough({ client, ...world }: World, options: RevocationOptions): Promise<void> {
  const { regenerations, nemesisMs, limitMs } = options;
  const from = performance.now();
  const isEnough = () => performance.now() > from + nemesisMs && countConfirmed(client, from) >= regenerations;
  for (let seconds = 1; !isEnough() && performance.now() < from + limitMs; seconds++) {
    await world.pause(1000);
    if (seconds % secondsBetweenLines === 0) {
      world.log(`${countConfirmed(client, from)} regenerations, ${world.faults.length} faults`);
    }
  }
}

/** What must not have happened beside what is judged under every load. */
function judge({ report, client }: World, seen: Seen, { from, least }: { from: number; least: number }): void {
  const { history, verdict, quietFrom, faultFrom } = seen;
  const confirmed = countConfirmed(client, from);
  report.failIf(confirmed < least, `only ${confirmed} of ${least} regenerations in the time there was`);
  const [deleted, expired] = endsOf(history);
  report.figure('single keys deleted, expired', `${deleted}, ${expired}`);
  report.failIf(deleted === 0 || expired === 0, `${deleted} single keys were deleted and ${expired} expired`);
  const changes = [...history.regenerations, ...history.singleKeyChanges];
  const unconfirmed = changes.filter((one) => isAt(quietFrom, faultFrom)(one) && one.outcome !== 'confirmed');
  report.failForEach(unconfirmed, ({ detail }) => `a change of keys failed while nothing did: ${detail}`);
  const { unexplained } = verdict;
  report.failForEach(unexplained, ({ number }) => `change ${number} of keys was confirmed without SVC-REVOCATION`);
}
