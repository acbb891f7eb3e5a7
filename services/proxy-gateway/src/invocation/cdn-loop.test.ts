import { useStack } from '@sluice/testing';
import { nextCdnLoop } from '../http/cdn-loop.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));

test('each call carries one more member of ours, behind those that came', async () => {
  expect(nextCdnLoop(undefined)).toBe('sluice');
  expect(nextCdnLoop('fastly, SLUICE;v=1')).toBe('fastly, SLUICE;v=1, sluice');
  const { tenant, url, destination } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false });
  for (const type of ['application/json', 'image/png']) {
    const headers = { 'SVC-PROXY-KEY': proxy.key, 'CDN-Loop': 'other; a="b, sluice"', 'Content-Type': type };
    await fetch(`${url}/proxy`, { method: 'POST', body: '{}', headers });
    expect(destination.seen.at(-1)?.headers['cdn-loop']).toBe('other; a="b, sluice", sluice');
  }
});

test('a transform neither sees the header nor sets it', async () => {
  const { tenant, url, destination } = gateway.current;
  const proxy = await tenant.proxy({
    destination: destination.url,
    requireAuth: false,
    requestTransform: `module.exports = async ({ args }) => ({
      body: Object.keys(args.headers),
      headers: { ...args.headers, 'cdn-loop': 'forged' },
    });`,
  });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'CDN-Loop': 'other', 'Content-Type': 'application/json' };
  await fetch(`${url}/proxy`, { method: 'POST', body: '{}', headers });
  const seen = destination.seen.at(-1);
  expect(seen?.headers['cdn-loop']).toBe('other, sluice');
  expect(JSON.parse(seen?.body ?? '')).not.toContain('cdn-loop');
});

test('a Proxy whose destination is itself is called four times, and the fifth is 508', async () => {
  const { db, tenant, url, logLines } = gateway.current;
  const proxy = await tenant.proxy({ destination: url, requireAuth: false });
  const itself = `${url}/proxy?svc-proxy-key=${proxy.key}`;
  await db.updateTable('proxies').set({ destination_url: itself }).where('id', '=', proxy.id).execute();
  const answer = await fetch(itself);
  expect(answer.status).toBe(508);
  expect(await answer.json()).toMatchObject({ proxy_error: { title: 'Loop detected', status: 508 } });
  const rounds = logLines.filter((line) => line.includes(proxy.id) && line.includes('"destination_status":508'));
  expect(rounds).toHaveLength(4);
});
