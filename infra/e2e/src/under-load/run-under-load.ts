import { checkHistory } from '../coherence/check-history.ts';
import { startLoad } from '../coherence/load.ts';
import type { FaultContext, FaultResult } from '../faults/fault-test.ts';
import { findUnrecorded } from './disclosures.ts';
import { type Bounds, disclosedIn, failuresOf, figuresOf, type Seen } from './judgement.ts';
import { openWorld, type Processes, type World } from './world.ts';
import { startWrites } from './writes.ts';

/** What a fault may cost, and what it found out itself. */
export interface Disturbance {
  figures?: [name: string, value: string][];
  failures?: string[];
}

/** One fault under load. */
export interface Scenario extends Bounds {
  /** Two of each service by default. */
  processes?: Processes;
  environment?: Record<string, string>;
  /** Does the fault and puts everything right again. */
  disturb(world: World): Promise<Disturbance | undefined>;
  /** Looks at the world once the load has ended. */
  after?(world: World, seen: Seen): Promise<Disturbance>;
}

const applications = 6;
const readers = 8;
const writers = 3;
/** So that most invocations meet no change of their key, and can be judged. */
const regenerationPauseMs = 600;

/** Processes that have just started and all clients at once: a connection may come too late, which is an honest 503. */
const warmUpMs = 2000;
const quietBeforeMs = 3000;
/** Longer than a recovery may take. */
const quietAfterMs = 4000;

/**
 * Clients invoke, regenerate keys and create things; first nothing fails, then the fault happens, then nothing fails
 * again. Whatever the fault: nothing revoked is accepted, nothing valid refused, no answer is wrong, nothing
 * acknowledged is lost or there twice, no invocation arrives twice, and every disclosure has its row.
 */
export async function runUnderLoad(context: FaultContext, scenario: Scenario): Promise<FaultResult> {
  const { seed, log } = context;
  const { environment, processes } = scenario;
  log(`seed ${seed}`);
  await using stack = new AsyncDisposableStack();
  const world = await openWorld({ ...context, environment, processes, applications }, stack);
  const { balancer, client, site, tokenKey } = world;
  const management = () => balancer.targets('management-api');
  const vaults = () => balancer.targets('token-vault');
  const targets = () => [...balancer.targets('proxy-gateway'), ...vaults()];
  const load = startLoad({ client, management, targets, readers, regenerationPauseMs, seed });
  const writes = startWrites({ site, management, vaults, tokenKey, clients: writers, seed }, stack);
  const broken = Promise.race([load.broken, writes.broken]);
  const startedAt = performance.now();
  try {
    await Promise.race([world.pause(warmUpMs + quietBeforeMs), broken]);
    log('now the fault');
    const faultFrom = performance.now();
    const disturbance = await Promise.race([scenario.disturb(world), broken]);
    const faultUntil = performance.now();
    log('all is right again');
    await Promise.race([world.pause(quietAfterMs), broken]);
    await Promise.all([load.stop(), writes.stop()]);
    const history = client.history();
    const seen: Seen = {
      history,
      verdict: checkHistory(history),
      arrivals: client.arrivals,
      writes: await writes.check(),
      unrecorded: await findUnrecorded(site, disclosedIn(history, client.arrivals)),
      quietFrom: startedAt + warmUpMs,
      faultFrom,
      faultUntil,
    };
    const own = await scenario.after?.(world, seen);
    return {
      figures: [['seed', String(seed)], ...figuresOf(seen), ...(disturbance?.figures ?? []), ...(own?.figures ?? [])],
      failures: [...failuresOf(seen, scenario), ...(disturbance?.failures ?? []), ...(own?.failures ?? [])],
    };
  } finally {
    await Promise.all([load.stop(), writes.stop()]).catch(() => undefined); // they fail because everything ends
  }
}
