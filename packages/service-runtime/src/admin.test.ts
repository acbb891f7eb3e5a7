import { Gauge, Registry } from 'prom-client';
import { openAdminServer, Readiness } from './index.ts';

async function openAdmin(stack: AsyncDisposableStack) {
  const readiness = new Readiness();
  const metrics = new Registry();
  const port = await openAdminServer({ host: '127.0.0.1', port: 0, readiness, metrics, stack });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, body: await response.text() };
  };
  return { readiness, metrics, get };
}

test('it lives from the start, is ready while it runs and every part answers, and not while it stops', async () => {
  await using stack = new AsyncDisposableStack();
  const { readiness, get } = await openAdmin(stack);
  expect(await get('/livez')).toEqual({ status: 200, body: 'ok\n' });
  expect(await get('/readyz')).toEqual({ status: 503, body: '{"ready":false,"missing":{"service":"starting"}}\n' });
  readiness.state = 'running';
  expect(await get('/readyz')).toEqual({ status: 200, body: '{"ready":true,"missing":{}}\n' });

  let answer: () => Promise<unknown> = async () => 'fine';
  readiness.add('postgres', () => answer());
  expect((await get('/readyz')).status).toBe(200);
  answer = () => Promise.reject(Object.assign(new Error('connect to 10.0.0.1'), { code: 'ECONNREFUSED' }));
  expect(await get('/readyz')).toEqual({
    status: 503,
    body: '{"ready":false,"missing":{"postgres":"ECONNREFUSED"}}\n',
  });
  expect((await get('/livez')).status).toBe(200);

  readiness.state = 'stopping';
  expect(await get('/readyz?x')).toEqual({ status: 503, body: '{"ready":false,"missing":{"service":"stopping"}}\n' });
});

test('a part that does not answer is missing after two seconds', async () => {
  await using stack = new AsyncDisposableStack();
  const { readiness, get } = await openAdmin(stack);
  readiness.state = 'running';
  readiness.add('postgres', () => new Promise(() => {}));
  const start = performance.now();
  expect(await get('/readyz')).toMatchObject({
    status: 503,
    body: expect.stringContaining('no answer within 2000 ms'),
  });
  expect(performance.now() - start).toBeLessThan(8000);
});

test('metrics are served; other paths are not', async () => {
  await using stack = new AsyncDisposableStack();
  const { get } = await openAdmin(stack);
  expect((await get('/metrics')).status).toBe(200);
  expect((await get('/')).status).toBe(404);
});

test('a figure that cannot be read makes the scrape a 500 that says why, and does not end the process', async () => {
  await using stack = new AsyncDisposableStack();
  const { metrics, get } = await openAdmin(stack);
  const collect = () => {
    throw new Error('the figure is broken');
  };
  new Gauge({ name: 'broken', help: 'Broken', registers: [metrics], collect });
  expect(await get('/metrics')).toEqual({ status: 500, body: 'The metrics cannot be read: the figure is broken\n' });
  expect((await get('/livez')).status).toBe(200);
});
