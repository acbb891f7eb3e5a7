import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { call } from '@sluice/testing';
import { type Platform, startPlatform } from '../platform.ts';
import { memoryOf, watchFigure } from './process-state.ts';

const tenantCommand = resolve(import.meta.dirname, '../../../../services/management-api/src/tenants/tenant.command.ts');
const mebibyte = 2 ** 20;

/** A Tenant that may do what every Tenant may. */
export interface HostileTenant {
  key: string;
  createProxy(body: object): Promise<{ id: string; key: string }>;
  createApplication(body: object): Promise<{ id: string; key: string }>;
  createToken(body: object): Promise<string>;
}

/** Sends one request and answers the status of its answer. */
export type Ask = () => Promise<number>;
export type Bomb = Ask;

export interface AttackOptions {
  settings: Record<string, string>;
  /** Makes what a hostile Tenant needs, and answers its bombs, which it sends in turn. */
  prepare(tenant: HostileTenant, platform: Platform): Promise<Bomb[]>;
  /** Opens what the good Tenant asks again and again. */
  good(platform: Platform): Promise<Ask>;
  /** How many bombs each Tenant keeps under way, and how many it sends in all. */
  underWay?: number;
  inAll?: number;
}

export interface Attacked {
  /** Most that the gateway and the token vault had resident, in bytes. */
  peakBytes: number;
  vaultPeakBytes: number;
  /** Of the good Tenant, which asks again and again while the others' bombs come. */
  goodStatuses: number[];
  goodP99Ms: number;
  /** How many bombs got each status. */
  bombStatuses: Record<number, number>;
}

async function createTenant(platform: Platform): Promise<HostileTenant> {
  const file = `--env-file=${resolve(platform.directory, 'environment')}`;
  const args = [file, tenantCommand, 'create', '--name', 'Hostile', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  const key: string = JSON.parse(stdout).management_key;
  const { managementApi, tokenVault } = platform.stack.serviceUrls;
  const created = async (path: string, body: object) => {
    const answer = await call(managementApi, 'POST', path, { key, body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const createApplication = (body: object) => created('/applications', { name: 'A', type: 'private', ...body });
  const owner = await createApplication({ permissions: ['token:create'] });
  return {
    key,
    createApplication,
    createProxy: (body) => created('/proxies', { name: 'P', require_auth: false, ...body }),
    createToken: async (body) => (await call(tokenVault, 'POST', '/tokens', { key: owner.key, body })).body.id,
  };
}

/** The good Tenant calls a Proxy with a transform. */
export const asksGateway =
  (destination: string, transform: object) =>
  async ({ createProxy, stack }: Platform): Promise<Ask> => {
    const proxy = { destination_url: destination, require_auth: false, request_transform: transform };
    const headers = { 'SVC-PROXY-KEY': (await createProxy(proxy)).key };
    const { proxyGateway } = stack.serviceUrls;
    return async () => (await call(proxyGateway, 'POST', '/proxy', { headers, body: { amount: 1 } })).status;
  };

/** Three Tenants keep bombs under way until as many of each are answered; a fourth does what it always does. */
export async function attack(options: AttackOptions): Promise<Attacked> {
  const { settings, prepare, good, underWay = 40, inAll = 48 } = options;
  await using closing = new AsyncDisposableStack();
  const platform = await startPlatform(closing, { environment: settings });
  const askOnce = await good(platform);
  const hostile: Bomb[][] = [];
  for (let tenants = 0; tenants < 3; tenants += 1) hostile.push(await prepare(await createTenant(platform), platform));
  const watch = (name: string) => watchFigure(() => memoryOf({ name, pid: platform.stack.processes.get(name)?.pid }));
  const [memory, vaultMemory] = [watch('proxy-gateway'), watch('token-vault')];
  const bombStatuses: Record<number, number> = {};
  const bombard = async (bombs: Bomb[]) => {
    let sent = 0;
    const one = async () => {
      while (sent < inAll) {
        const status = (await bombs[sent++ % bombs.length]?.()) ?? 0;
        bombStatuses[status] = (bombStatuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: underWay }, one));
  };
  let isOver = false;
  const goodStatuses: number[] = [];
  const waited: number[] = [];
  const ask = async () => {
    while (!isOver) {
      const begunAt = performance.now();
      goodStatuses.push(await askOnce());
      waited.push(performance.now() - begunAt);
    }
  };
  const asking = ask();
  await Promise.all(hostile.map(bombard));
  isOver = true;
  await asking;
  waited.sort((a, b) => a - b);
  return {
    peakBytes: (await memory.stop()).peak * mebibyte,
    vaultPeakBytes: (await vaultMemory.stop()).peak * mebibyte,
    goodStatuses,
    goodP99Ms: Math.round(waited[Math.floor(waited.length * 0.99)] ?? 0),
    bombStatuses,
  };
}
