import { setTimeout as wait } from 'node:timers/promises';
import { createHttpClient, type HttpAnswer } from '@sluice/testing';
import type { Processes, Site } from '../cluster/site.ts';
import { type Client, openClient, revealing } from '../coherence/client.ts';
import type { FaultContext } from '../faults/fault-test.ts';
import { startPlatform } from '../platform.ts';
import { createRandom, type Random } from '../random.ts';
import { type Balancer, startBalancer } from './balancer.ts';

/** What a fault is done to. */
export interface World extends Site {
  seed: number;
  log: (line: string) => void;
  balancer: Balancer;
  client: Client;
  /** Of an Application with every permission of tokens that sees plaintext. */
  tokenKey: string;
  /** As a management client does. @throws {Error} where the answer is not a success. */
  manage(method: string, path: string, body?: object): Promise<{ id: string; key: string }>;
  /** The same while things fail: whatever the answer is. */
  tryManage(method: string, path: string, body?: object): Promise<HttpAnswer>;
  /** Choices that the seed repeats; each number gives others. */
  random(number: number): Random;
  /** Waits; rejects when everything is to end. */
  pause(ms: number): Promise<void>;
}

/** Two of each that take requests, and a worker. */
export const usualProcesses: Processes = [
  ['management-1', 'management-api'],
  ['management-2', 'management-api'],
  ['gateway-1', 'proxy-gateway'],
  ['gateway-2', 'proxy-gateway'],
  ['vault-1', 'token-vault'],
  ['vault-2', 'token-vault'],
  ['worker-1', 'worker'],
];

export interface WorldOptions extends FaultContext {
  processes?: Processes | undefined;
  /** For every process. */
  environment?: Record<string, string> | undefined;
  /** Applications whose keys are regenerated and used. */
  applications: number;
  /** Applications to which single keys are added. */
  severalKeys: number;
  /** How long a client waits for an answer; 5 s by default. */
  patienceMs?: ((random: Random) => number) | undefined;
}

export async function openWorld(options: WorldOptions, stack: AsyncDisposableStack): Promise<World> {
  const { processes = usualProcesses, applications, severalKeys, patienceMs = () => 5000, seed, log, signal } = options;
  const site = await startPlatform(stack, { ...options, processes });
  const [management] = site.of('management-api');
  if (!management) throw new Error('There is no management API');
  const { management_key } = site.credentials;
  const balancer = startBalancer(site.nodes, stack);
  const { manage, tryManage } = manager(() => balancer.targets('management-api')[0]?.url, management_key, stack);
  const random = createRandom(seed);
  const [vault] = site.of('token-vault');
  const counts = { applications, severalKeys };
  const client = await openClient({ site, management, vault, ...counts, patienceMs: () => patienceMs(random) }, stack);
  const everything = revealing('create', 'update', 'read', 'search', 'delete', 'use');
  const { key: tokenKey } = await manage('POST', '/applications', { name: 'Writer', type: 'private', ...everything });
  return {
    ...site,
    seed,
    log,
    client,
    manage,
    tryManage,
    tokenKey,
    balancer,
    random: (number) => createRandom(seed + number),
    async pause(ms) {
      await wait(ms, undefined, { ...(signal && { signal }) });
    },
  };
}

/** Requests with a management key to whichever management API is there. */
export function manager(
  baseUrl: () => string | undefined,
  managementKey: string,
  stack: AsyncDisposableStack,
): Pick<World, 'manage' | 'tryManage'> {
  const http = createHttpClient(stack);
  const headers = { 'svc-api-key': managementKey, 'content-type': 'application/json' };
  const tryManage: World['tryManage'] = (method, path, body) =>
    http.send({
      method,
      url: `${baseUrl()}${path}`,
      headers,
      body: body ? JSON.stringify(body) : '',
      timeoutMs: 20_000,
    });
  return {
    tryManage,
    async manage(method, path, body) {
      const { status, detail, body: answered } = await tryManage(method, path, body);
      if (status < 200 || status >= 300) throw new Error(`${method} ${path}: ${detail} ${answered}`);
      return answered ? JSON.parse(answered) : {};
    },
  };
}
