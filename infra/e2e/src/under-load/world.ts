import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '@sluice/local/parts';
import { createHttpClient, type HttpAnswer } from '../cluster/http-client.ts';
import { type Node, startNode } from '../cluster/node.ts';
import { type Site, startSite } from '../cluster/site.ts';
import { type Client, openClient } from '../coherence/client.ts';
import type { FaultContext } from '../faults/fault-test.ts';
import { type Balancer, startBalancer } from './balancer.ts';

/** What a fault is done to. */
export interface World {
  site: Site;
  nodes: readonly Node[];
  /** @throws {Error} where there is none of that name. */
  node(name: string): Node;
  of(service: ServiceName): readonly Node[];
  balancer: Balancer;
  client: Client;
  /** Of an Application with every permission of tokens that sees plaintext. */
  tokenKey: string;
  /** As a management client does. @throws {Error} where the answer is not a success. */
  manage(method: string, path: string, body?: object): Promise<{ id: string; key: string }>;
  /** The same while things fail: whatever the answer is. @throws {NoAnswer} */
  tryManage(method: string, path: string, body?: object): Promise<HttpAnswer>;
  /** Waits; rejects when everything is to end. */
  pause(ms: number): Promise<void>;
}

export type Processes = readonly (readonly [name: string, service: ServiceName])[];

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
  /** Of every process. */
  environment?: Record<string, string> | undefined;
  /** Applications whose keys are regenerated and used. */
  applications: number;
}

/** How long a client waits for an answer. */
const patienceMs = 5000;

const permissions = ['create', 'update', 'read', 'search', 'delete', 'use'].map((name) => `token:${name}`);
const rules = [{ description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }];

export async function openWorld(options: WorldOptions, stack: AsyncDisposableStack): Promise<World> {
  const { processes = usualProcesses, environment = {}, seed, signal } = options;
  const site = await startSite(options, stack);
  const nodes = await Promise.all(
    processes.map(([name, service], index) =>
      startNode(site, { name, service, seed: seed + 10 * index, environment }, stack),
    ),
  );
  const of = (service: ServiceName) => nodes.filter((node) => node.service === service);
  const [management] = of('management-api');
  if (!management) throw new Error('There is no management API');
  const http = stack.adopt(createHttpClient(), (opened) => opened.close());
  const balancer = startBalancer(nodes, stack);
  const tryManage: World['tryManage'] = (method, path, body) => {
    const headers = { 'svc-api-key': site.credentials.management_key, 'content-type': 'application/json' };
    const url = `${balancer.targets('management-api')[0]?.url}${path}`;
    return http.send({ method, url, headers, body: body ? JSON.stringify(body) : '', timeoutMs: 20_000 });
  };
  const manage: World['manage'] = async (method, path, body) => {
    const answer = await tryManage(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.body ? JSON.parse(answer.body) : {};
  };
  const client = await openClient(
    {
      site,
      management,
      vault: of('token-vault')[0],
      applications: options.applications,
      patienceMs: () => patienceMs,
    },
    stack,
  );
  const holder = await manage('POST', '/applications', { name: 'Writer', type: 'private', rules });
  return {
    site,
    nodes,
    of,
    client,
    manage,
    tokenKey: holder.key,
    tryManage,
    balancer,
    node(name) {
      const found = nodes.find((node) => node.name === name);
      if (!found) throw new Error(`There is no process ${name}`);
      return found;
    },
    async pause(ms) {
      await wait(ms, undefined, { ...(signal && { signal }) });
    },
  };
}
