import { randomUUID } from 'node:crypto';
import { eventually, openRedisDoor, testRedisUrl } from '@sluice/testing';
import { openBus } from './bus.ts';
import { recordingLog } from './testing/test-processes.ts';

const warnings = (lines: Record<string, unknown>[]) =>
  lines.filter(({ level }) => level === 'warn' || level === 'error');

async function openBehindDoor(stack: AsyncDisposableStack, { beginsShut = false } = {}) {
  const door = await openRedisDoor(stack);
  if (beginsShut) await door.shut();
  const { log, lines } = recordingLog();
  const own = new AsyncDisposableStack();
  stack.defer(() => own.disposeAsync());
  const bus = openBus({ redisUrl: door.url, log, stack: own });
  const channel = `test:${randomUUID()}`;
  const heard: string[] = [];
  bus.subscribe(channel, (text) => heard.push(JSON.parse(text).id));
  /** Messages are lost until both connections are there. */
  const isHeard = async (other = bus) => {
    const id = randomUUID();
    other.publish(channel, { id });
    await new Promise((resolve) => setTimeout(resolve, 20));
    return heard.includes(id);
  };
  return { door, bus, lines, isHeard, close: () => own.disposeAsync() };
}

test('what one process publishes another hears, and the one itself', async () => {
  await using stack = new AsyncDisposableStack();
  const { isHeard } = await openBehindDoor(stack);
  const other = openBus({ redisUrl: testRedisUrl(), log: recordingLog().log, stack });
  await eventually('heard', () => isHeard());
  await eventually('heard of another', () => isHeard(other));
});

test('a channel has one who hears it: a second would silently take its place', async () => {
  await using stack = new AsyncDisposableStack();
  const bus = openBus({ redisUrl: testRedisUrl(), log: recordingLog().log, stack });
  bus.subscribe('test:once', () => {});
  expect(() => bus.subscribe('test:once', () => {})).toThrow('test:once is heard already');
});

test('while Redis is away publishing throws nothing and waits for nothing; then everything is heard again', async () => {
  await using stack = new AsyncDisposableStack();
  const { door, bus, lines, isHeard } = await openBehindDoor(stack);
  await eventually('heard', () => isHeard());
  await door.shut();
  await eventually('noticed', () => warnings(lines()).length > 0);
  for (let n = 0; n < 100; n++) expect(bus.publish('x', { n })).toBeUndefined();
  const late: string[] = [];
  const lateChannel = `test:${randomUUID()}`;
  bus.subscribe(lateChannel, (text) => late.push(text));
  await door.open();
  await eventually('heard again', () => isHeard());
  await eventually('heard on the new channel', () => {
    bus.publish(lateChannel, {});
    return late.length > 0;
  });
  expect(warnings(lines()).map(({ msg }) => msg)).toEqual([expect.stringMatching(/^Redis is away: .*REDIS_URL right/)]);
  expect(lines().map(({ msg }) => msg)).toContain('announcements are heard again');
});

test('a Redis that is away at the start is found later', async () => {
  await using stack = new AsyncDisposableStack();
  const { door, isHeard } = await openBehindDoor(stack, { beginsShut: true });
  expect(await isHeard()).toBe(false);
  await door.open();
  await eventually('heard', () => isHeard());
});

test('a Redis that accepts connections and answers nothing is given up, at the start and later', async () => {
  await using stack = new AsyncDisposableStack();
  const { door, bus, lines, isHeard } = await openBehindDoor(stack);
  const releaseFirst = door.stall('to-client');
  bus.publish('x', {});
  await eventually('the connections that never began are cut', () => warnings(lines()).length > 0);
  releaseFirst();
  await eventually('heard', () => isHeard());

  const releaseSecond = door.stall('to-client');
  await eventually('the connection on which nothing comes any more is cut', () => warnings(lines()).length > 1);
  bus.publish('x', {});
  releaseSecond();
  await eventually('heard again', () => isHeard());
});

test('a stop is silent and immediate: with Redis there, away, or hanging', async () => {
  for (const state of ['there', 'away', 'hanging']) {
    await using stack = new AsyncDisposableStack();
    const { door, bus, lines, isHeard, close } = await openBehindDoor(stack, { beginsShut: state === 'away' });
    if (state === 'there') await eventually('heard', () => isHeard());
    if (state === 'hanging') stack.defer(door.stall('to-client'));
    if (state === 'away') await eventually('noticed', () => warnings(lines()).length > 0);
    const before = warnings(lines()).length;
    bus.publish('x', {});
    await close();
    bus.publish('x', {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect({ state, warnings: warnings(lines()).slice(before) }).toEqual({ state, warnings: [] });
  }
});
