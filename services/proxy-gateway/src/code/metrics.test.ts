import { defaultTransformLimits, openTransformPool } from '@sluice/sandbox';
import { call, useStack } from '@sluice/testing';
import { Registry } from 'prom-client';
import { startTestGateway } from '../testing/test-gateway.ts';
import { measureCode } from './metrics.ts';

test('the state of the pool and of its breakers is in the metrics', async () => {
  const pool = openTransformPool({
    limits: { ...defaultTransformLimits, cpuMs: 50, wallMs: 300_000 },
    threads: 1,
    queueLimit: 10,
    headerPrefix: 'SVC',
    suspension: { kills: 1, windowMs: 60_000, suspendMs: 60_000 },
  });
  const registry = new Registry();
  measureCode('transform', pool, registry);
  await pool.ready();
  const run = (code: string) =>
    pool
      .run({ tenantId: 't', ownerId: 'p', kind: 'request', code, argsJson: '{}', configuration: async () => '{}' })
      .catch((error: Error) => error);
  await run('module.exports = () => { for (;;) {} }');
  await run('module.exports = () => { for (;;) {} }');
  const text = await registry.metrics();
  expect(text).toContain('sluice_transform_threads 2');
  expect(text).toMatch(/sluice_transform_stops_total\{limit="cpu_time"\} 1/);
  expect(text).toContain('sluice_transform_suspended 1');
  expect(text).toContain('sluice_transform_suspensions_total 1');
  expect(text).toContain('sluice_transform_suspended_runs_total 1');
  await run('module.exports = () => ({})');
  expect(await registry.metrics()).toContain('sluice_transform_suspended 0');
  await pool.close();
});

const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CPU_MS: '50', TRANSFORM_BREAKER_KILLS: '2' }));

test('a transform that is killed again and again is suspended: at once a proxy_error with Retry-After, and a line in the log', async () => {
  const { tenant, destination, url, logLines } = gateway.current;
  const requestTransform = 'module.exports = async ({ args }) => { while (args.body.loop); return {} }';
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, requestTransform });
  const invoke = (loop: boolean) =>
    call(url, 'POST', '/proxy', { body: { loop }, headers: { 'SVC-PROXY-KEY': proxy.key } });
  for (let i = 0; i < 2; i += 1) expect((await invoke(true)).body.proxy_error.detail).toMatch(/CPU time/);
  const refused = await invoke(false);
  expect(refused.status).toBe(500);
  expect(refused.body.proxy_error.detail).toMatch(/^The transform is suspended: it was stopped 2 times within 60 s/);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(logLines.join('\n')).toContain('a transform is suspended');
});
