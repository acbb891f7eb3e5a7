import type { Client } from '../coherence/client.ts';
import type { KeyChange } from '../coherence/history.ts';
import { type NemesisOptions, startNemesis } from '../coherence/nemesis.ts';
import { startSignInLoad } from '../coherence/sign-in-load.ts';
import { endsOf, isAt, type Seen } from '../under-load/judgement.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';
import type { FaultTest } from './fault-test.ts';

export interface RevocationOptions {
  /** At least so many successes. */
  regenerations: number;
  /** How long nothing fails, before and after. */
  quietMs: number;
  nemesisMs: number;
  /** After which the nemesis ends, and the test has failed if there were too few regenerations. */
  limitMs: number;
}

const warmUpMs = 3000;

/**
 * Regenerates keys, adds, deletes and lets expire single ones, and uses valid, revoked and expired ones everywhere; lets
 * people sign in and puts them out; while a nemesis disturbs the system.
 */
export const revocation = (options: RevocationOptions): FaultTest =>
  underLoad(
    'revocation',
    `${options.regenerations} regenerations by 12 of 36 clients while gateways, Redis, Postgres backends and connections hang and die: no revoked key is accepted`,
    {
      processes: { 'proxy-gateway': 3, 'token-vault': 1 },
      load: {
        applications: 12,
        severalKeys: 4,
        readers: 20,
        writers: 0,
        regenerationPauseMs: 50,
        isBalanced: false,
        warmUpMs,
        quietBeforeMs: options.quietMs - warmUpMs,
        quietAfterMs: options.quietMs,
        patienceMs: (random) => random.between(1000, 8000),
      },
      // How long it takes is shown and not judged, since all that hung is worked off by as many clients.
      recoveryMs: Number.POSITIVE_INFINITY,
      beside: async (world) => [await startSignInLoad(world)],
      async disturb(world) {
        await disturbAtRandom(world, {}, () => untilEnough(world, options));
        world.judges.push((seen) => judge(world, seen, options));
      },
    },
  );

export async function disturbAtRandom(world: World, options: NemesisOptions, act: () => Promise<void>): Promise<void> {
  const nemesis = startNemesis(world, options);
  try {
    await Promise.race([act(), nemesis.broken]);
  } finally {
    await nemesis.stop();
  }
}

const countConfirmed = ({ applications: all }: Client) => all.reduce((sum, { keys }) => sum + keys.size - 1, 0);

const secondsBetweenLines = 30;

/** Until there were faults for long enough and enough regenerations, or there is no more time. */
async function untilEnough(world: World, options: RevocationOptions): Promise<void> {
  const { regenerations, nemesisMs, limitMs } = options;
  const from = performance.now();
  const isEnough = () => performance.now() > from + nemesisMs && countConfirmed(world.client) >= regenerations;
  for (let seconds = 1; !isEnough() && performance.now() < from + limitMs; seconds++) {
    await world.pause(1000);
    if (seconds % secondsBetweenLines === 0) {
      world.log(`${countConfirmed(world.client)} regenerations, ${world.faults.length} faults`);
    }
  }
}

/** What must not have happened beside what is judged under every load. */
function judge({ report, client }: World, seen: Seen, { regenerations }: RevocationOptions): void {
  const { history, verdict, quietFrom, faultFrom } = seen;
  const confirmed = countConfirmed(client);
  const few = `only ${confirmed} of ${regenerations} regenerations in the time there was`;
  report.failIf(confirmed < regenerations, few);
  const [deleted, expired] = endsOf(history);
  report.failIf(deleted === 0 || expired === 0, `${deleted} single keys were deleted and ${expired} expired`);
  const changes = [...history.regenerations, ...history.singleKeyChanges];
  const unconfirmed = changes.filter((one) => isAt(quietFrom, faultFrom)(one) && one.outcome !== 'confirmed');
  report.failForEach(unconfirmed, ({ detail }) => `a change of keys failed while nothing did: ${detail}`);
  const { unexplained, overlong } = verdict;
  report.failForEach(unexplained, ({ number }) => `change ${number} of keys was confirmed without SVC-REVOCATION`);
  const waited = ({ confirmation }: KeyChange) => `${confirmation?.waitedMs} ms`;
  report.failForEach(overlong, (change) => `a change of keys waited ${waited(change)}: more than a lease`);
}
