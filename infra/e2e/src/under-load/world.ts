import { setTimeout as wait } from 'node:timers/promises';
import { type HttpClient, openHttpClient, type Random, seededRandom, waitUntil } from '@sluice/testing';
import type { Processes, Site } from '../cluster/site.ts';
import { type Client, openClient } from '../coherence/client.ts';
import type { Fault } from '../coherence/history.ts';
import type { FaultContext } from '../faults/fault-test.ts';
import { startPlatform } from '../platform.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import type { Seen } from './judgement.ts';
import { type Tenant, tenantClient } from './tenant.ts';

export interface World extends Site, Tenant, Pick<FaultContext, 'seed' | 'log' | 'report'> {
  http: HttpClient;
  balancer: Balancer;
  client: Client;
  /** Choices that the seed repeats; each number gives others. */
  random(number: number): Random;
  /** Waits; rejects when everything is to end. */
  pause(ms: number): Promise<void>;
  /** Waits until the condition holds, or the time is over; resolves to whether it held in time. */
  until(holds: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean>;
  /** Of a nemesis: what it has done. */
  faults: Fault[];
  judges: ((seen: Seen) => Promise<void> | void)[];
  /** What has to end before there is another fault. */
  settling: Promise<unknown>[];
}

/** Two of each that take requests, and a worker. */
const usualProcesses: Processes = { 'management-api': 2, 'proxy-gateway': 2, 'token-vault': 2, worker: 1 };

const clientPatienceMs = 5000;

/** Who does what. */
export const usualLoad = {
  /** Applications whose keys are regenerated, by a client each. */
  applications: 6,
  /** Applications to which single keys are added, by a client each. */
  severalKeys: 0,
  readers: 8,
  writers: 3,
  /** Between two regenerations of one Application, on the average: most invocations meet no change of their key, and can be judged. */
  regenerationPauseMs: 600,
  /** False: processes that are not ready are used too, because they may still serve from their caches. */
  isBalanced: true,
  /** How long a client waits for an answer. */
  patienceMs: (_random: Random): number => clientPatienceMs,
};

export type LoadShape = typeof usualLoad;

export interface WorldOptions extends FaultContext {
  processes?: Processes | undefined;
  environment?: Record<string, string> | undefined;
}

export async function openWorld(options: WorldOptions, stack: AsyncDisposableStack): Promise<World> {
  const { seed, log, report, signal } = options;
  const site = await startPlatform(stack, { ...options, processes: { ...usualProcesses, ...options.processes } });
  const [management] = site.of('management-api');
  if (!management) throw new Error('There is no management API');
  const http = openHttpClient(stack);
  const balancer = startBalancer(site.nodes, stack);
  const [vault] = site.of('token-vault');
  const client = await openClient({ site, management, vault, patienceMs: clientPatienceMs }, stack);
  return {
    ...site,
    ...(await tenantClient({ http, balancer }, site.credentials)),
    ...{ seed, log, report, http, balancer, client },
    random: (number) => seededRandom(seed + number),
    pause: (ms) => wait(ms, undefined, { ...(signal && { signal }) }),
    until: (holds, withinMs) => waitUntil(holds, withinMs, signal),
    faults: [],
    judges: [],
    settling: [],
  };
}
