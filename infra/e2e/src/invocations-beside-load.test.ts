import type { Sluice } from '@sluice/sdk';
import { eventually, startDestination, useStack } from '@sluice/testing';
import { sharePlatform } from './platform.ts';

const world = useStack(async (closing) => ({
  platform: await sharePlatform(),
  destination: await startDestination(closing),
}));

const calls = 2000;
const atOnce = 20;

/** Collects until `stop` is aborted. */
async function tail(sluice: Sluice, proxyId: string, stop: AbortSignal) {
  const seen = { traces: [] as string[], skipped: 0 };
  const watching = (async () => {
    for await (const event of sluice.invocations.watch({ proxy_id: proxyId, size: 1 }, { signal: stop })) {
      if (event.event === 'skipped') seen.skipped += event.data.skipped;
      else seen.traces.push(event.data.trace_id);
    }
  })();
  return { seen, ended: watching.catch((error: unknown) => (stop.aborted ? undefined : Promise.reject(error))) };
}

test('of a load, whoever follows invocations sees each one once, or is told how many it misses', async () => {
  const { platform, destination } = world.current;
  const proxy = await platform.createProxy({ destination_url: destination.url, require_auth: false });
  const invoke = async (trace: string) => {
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-TRACE-ID': trace };
    expect((await platform.call('POST', '/proxy', { headers, body: {} })).status).toBe(200);
  };
  const stop = new AbortController();
  const { seen, ended } = await tail(platform.sluice, proxy.id, stop.signal);
  await invoke('first');
  await eventually('the stream has begun', () => seen.traces.includes('first'));
  let next = 0;
  const caller = async () => {
    while (next < calls) await invoke(`load-${next++}`);
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  await invoke('last');
  await eventually('the last one is told', () => seen.traces.includes('last'));
  stop.abort();
  await ended;
  expect(new Set(seen.traces).size).toBe(seen.traces.length);
  expect(seen.traces.length + seen.skipped).toBeGreaterThanOrEqual(calls + 2);
  const { requests } = await platform.sluice.tenant.metrics();
  expect(requests.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(calls + 2);
});
