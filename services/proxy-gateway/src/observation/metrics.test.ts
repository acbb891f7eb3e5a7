import { Registry } from 'prom-client';
import { invocationMetrics } from './metrics.ts';
import { StageClock } from './stage-clock.ts';

test.each([
  [{}, 'forward'],
  [{ tokens: 2 }, 'detokenize'],
  [{ tokens: 2, hasTransform: true }, 'transform'],
])('of an invocation with %j the route is %s', async (record, route) => {
  const registry = new Registry();
  const metrics = invocationMetrics(registry);
  metrics.finished({ clock: new StageClock(), ...record }, 502, 3);
  const text = await registry.metrics();
  expect(text).toContain(`sluice_invocation_duration_seconds_count{route="${route}",status_class="5xx"} 1`);
  expect(text).toContain(`sluice_invocation_duration_seconds_bucket{le="0.005",route="${route}",status_class="5xx"} 1`);
  expect(text).toContain(
    `sluice_invocation_duration_seconds_bucket{le="0.0025",route="${route}",status_class="5xx"} 0`,
  );
});

test.each([
  [100, '1xx'],
  [599, '5xx'],
  [600, 'other'],
  [999, 'other'],
])('status %i is counted as %s, with its route', async (status, statusClass) => {
  const registry = new Registry();
  const metrics = invocationMetrics(registry);
  for (const record of [{}, { tokens: 1 }, { hasTransform: true }]) {
    metrics.finished({ clock: new StageClock(), ...record }, status, 3);
  }
  const text = await registry.metrics();
  const counts = [...text.matchAll(/_duration_seconds_count{(.*)} 1$/gm)].map(([, labels]) => labels);
  const routes = ['forward', 'detokenize', 'transform'];
  expect(counts).toEqual(routes.map((route) => `route="${route}",status_class="${statusClass}"`));
});

test('only stages that were entered are counted', async () => {
  const registry = new Registry();
  const metrics = invocationMetrics(registry);
  const clock = new StageClock();
  clock.enter('authenticate');
  clock.enter();
  metrics.finished({ clock }, 200, 1);
  const text = await registry.metrics();
  expect(text).toContain('sluice_invocation_stage_duration_seconds_count{stage="authenticate"} 1');
  expect(text).not.toContain('{stage="destination"');
});
