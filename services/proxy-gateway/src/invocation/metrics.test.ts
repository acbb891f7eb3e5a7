import { Registry } from 'prom-client';
import { createInvocationMetrics } from './metrics.ts';
import { StageClock } from './stage-clock.ts';

test.each([
  [{}, 'forward'],
  [{ tokens: 2 }, 'detokenize'],
  [{ tokens: 2, hasTransform: true }, 'transform'],
])('of an invocation with %j the route is %s', async (record, route) => {
  const registry = new Registry();
  const metrics = createInvocationMetrics(registry);
  metrics.finished({ clock: new StageClock(), ...record }, 502, 3);
  const text = await registry.metrics();
  expect(text).toContain(`sluice_invocation_duration_seconds_count{route="${route}",status_class="5xx"} 1`);
  expect(text).toContain(`sluice_invocation_duration_seconds_bucket{le="0.005",route="${route}",status_class="5xx"} 1`);
  expect(text).toContain(
    `sluice_invocation_duration_seconds_bucket{le="0.0025",route="${route}",status_class="5xx"} 0`,
  );
});

test('only stages that were entered are counted', async () => {
  const registry = new Registry();
  const metrics = createInvocationMetrics(registry);
  const clock = new StageClock();
  clock.enter('authenticate');
  clock.enter();
  metrics.finished({ clock }, 200, 1);
  const text = await registry.metrics();
  expect(text).toContain('sluice_invocation_stage_duration_seconds_count{stage="authenticate"} 1');
  expect(text).not.toContain('stage="destination"');
});
