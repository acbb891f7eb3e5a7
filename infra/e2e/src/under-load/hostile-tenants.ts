import { setTimeout as wait } from 'node:timers/promises';
import { call } from '@sluice/testing';
import { clientOf, createTenant, type Platform, startPlatform, type TenantClient } from '../platform.ts';
import { startRepeating } from './clients.ts';
import { countKinds, elapsedMs, percentiles } from './count.ts';
import { watchMemory } from './process-state.ts';

export const mebibyte = 2 ** 20;
export const largeText = 'x'.repeat(mebibyte - 100);
export const passing = { code: 'module.exports = async ({ args }) => ({ body: args.body })' };

/** How many bombs each Tenant keeps under way, and how many it sends in all. */
const underWay = 40;
const inAll = 48;

export type Ask = () => Promise<number>;

export interface AttackOptions {
  settings: Record<string, string>;
  /** Makes what a hostile Tenant needs, and answers its bombs, which it sends in turn. */
  prepare(tenant: TenantClient, platform: Platform): Promise<Ask[]>;
  /** Opens what the good Tenant asks again and again. */
  good(platform: Platform): Promise<Ask>;
  /** Once a process takes more than this, in MiB, nothing more is waited for. */
  enough: number;
}

export type Attacked = Awaited<ReturnType<typeof attack>>;

/** The good Tenant is answered as ever, and bombs get one of these; none is cut off. */
export function expectOthersServed({ goodStatuses, bombStatuses }: Attacked, allowed: readonly number[]): void {
  expect(new Set(goodStatuses)).toEqual(new Set([200]));
  // One after another; how many there are is the machine's matter
  expect(goodStatuses.length).toBeGreaterThanOrEqual(5);
  expect(allowed).toEqual(expect.arrayContaining([...new Set(bombStatuses)]));
}

/** Sends a body, and reads the answer whole, like a slow client a little later where that is asked. */
export async function statusOf(url: string, request: RequestInit, readAfterMs = 0): Promise<number> {
  const answer = await fetch(url, request);
  if (readAfterMs > 0) await wait(readAfterMs);
  await answer.arrayBuffer();
  return answer.status;
}

export const asksGateway =
  (destination: string) =>
  async ({ createProxy, stack }: Platform): Promise<Ask> => {
    const proxy = { destination_url: destination, require_auth: false, request_transform: passing };
    const headers = { 'SVC-PROXY-KEY': (await createProxy(proxy)).key };
    const { proxyGateway } = stack.serviceUrls;
    return async () => (await call(proxyGateway, 'POST', '/proxy', { headers, body: { amount: 1 } })).status;
  };

/** Three Tenants keep `underWay` bombs in flight until `inAll` are answered; a fourth works as usual. */
export async function attack({ settings, prepare, good, enough }: AttackOptions) {
  await using closing = new AsyncDisposableStack();
  const platform = await startPlatform(closing, { environment: settings });
  const askOnce = await good(platform);
  const hostile: Ask[][] = [];
  for (let tenants = 0; tenants < 3; tenants++) {
    const { base_url, management_key } = await createTenant(platform);
    hostile.push(await prepare(clientOf(base_url, management_key), platform));
  }
  const { promise: isEnough, resolve } = Promise.withResolvers<void>();
  const watch = (name: string) => {
    const { pid } = platform.stack.processes.get(name) ?? {};
    return watchMemory({ name, pid }, (memory) => memory > enough && resolve());
  };
  const [gateway, vault] = [watch('proxy-gateway'), watch('token-vault')];
  const bombStatuses: number[] = [];
  const bombard = async (bombs: Ask[]) => {
    let sent = 0;
    const one = async () => {
      while (sent < inAll) bombStatuses.push((await bombs[sent++ % bombs.length]?.()) ?? 0);
    };
    await Promise.all(Array.from({ length: underWay }, one));
  };
  const goodStatuses: number[] = [];
  const waited: number[] = [];
  const asking = startRepeating(1, async () => {
    waited.push(await elapsedMs(async () => goodStatuses.push(await askOnce())));
  });
  await Promise.race([Promise.all(hostile.map(bombard)), isEnough, asking.broken]);
  await asking.stop();
  const [gatewayPeak, vaultPeak] = [(await gateway.stop()).peak, (await vault.stop()).peak];
  console.info(
    `peak of gateway ${gatewayPeak.toFixed()} MiB, of token vault ${vaultPeak.toFixed()} MiB, ` +
      `good Tenant p50 / p99 / max ${percentiles(waited)}, bombs ${countKinds(bombStatuses)}`,
  );
  return { gatewayPeak, vaultPeak, goodStatuses, bombStatuses };
}
