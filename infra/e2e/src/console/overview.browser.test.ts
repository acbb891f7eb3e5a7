import { eventually, serveHttp, useStack } from '@sluice/testing';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async (closing) => {
  const platform = await openConsole();
  const destination = await serveHttp(closing, ({ url }, response) => {
    response.writeHead(url?.includes('fail') ? 500 : 200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...platform, destination };
});

test('the overview leads to the first invocation, and then shows what happens', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { sluice, stack, destination } = world.current;
  await opened.goto('/', 'Overview');
  await page.getByRole('heading', { name: 'Your first invocation' }).waitFor();
  await opened.look('overview-first');
  const proxy = await sluice.proxies.create({ name: 'P', destination_url: destination });
  const { key } = await sluice.applications.create({ name: 'Caller', type: 'private', permissions: ['token:use'] });
  const caller = clientOf(stack.baseUrl, key).sluice.proxy(proxy.key);
  for (let at = 0; at < 40; at++) await caller.fetch('/a');
  for (let at = 0; at < 3; at++) await caller.fetch('/a', { method: 'POST', body: '{{ nothing }}' });
  await eventually('the figures', async () =>
    (await sluice.tenant.metrics()).requests.some((count) => (count ?? 0) > 0),
  );
  await page.reload();
  await page.getByText('in the last hour', { exact: true }).waitFor();
  await opened.look('overview');
  await opened.goto(`/proxies/${proxy.id}`, 'P');
  await page.getByText('invalid_proxy_request').first().waitFor();
  await opened.look('proxy-invocations');
});
