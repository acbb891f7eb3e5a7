import { setTimeout as sleep } from 'node:timers/promises';
import { StageClock } from './stage-clock.ts';

test('time belongs to the stage that was entered last, and to no other', async () => {
  const clock = new StageClock();
  await sleep(20);
  clock.enter('authenticate');
  await sleep(20);
  clock.enter();
  await sleep(20);
  clock.enter('destination');
  await sleep(20);
  const transformAt = performance.now();
  clock.enter('transform');
  clock.enter('destination');
  const transformMs = performance.now() - transformAt;
  await sleep(20);
  clock.enter();
  const whole = performance.now() - clock.startedAt;
  const { authenticate, detokenize, transform, destination } = clock.durations;
  expect(authenticate).toBeGreaterThan(15);
  expect(destination).toBeGreaterThan(35);
  expect(authenticate + destination).toBeLessThan(whole - 30);
  expect([detokenize, transform <= transformMs]).toEqual([0, true]);
});

test('Server-Timing names the stages that were entered, the current one up to now', async () => {
  const clock = new StageClock();
  clock.enter('authenticate');
  clock.enter('destination');
  await sleep(20);
  const [, authenticate, destination, total] =
    /^authenticate;dur=([\d.]+), destination;dur=([\d.]+), total;dur=([\d.]+)$/.exec(clock.serverTiming()) ?? [];
  expect(Number(destination)).toBeGreaterThan(15);
  expect(Number(authenticate) + Number(destination)).toBeLessThanOrEqual(Number(total) + 0.02);
});
