import { serviceLogger } from '@sluice/service-runtime';
import { eventually } from '@sluice/testing';
import { startSweep } from './sweep.ts';

function sweepOptions(intervalMs: number) {
  const lines: string[] = [];
  const log = serviceLogger({ service: 'test', level: 'info' }, { write: (line: string) => void lines.push(line) });
  return { lines, options: { name: 'test', intervalMs, log, stopping: new AbortController().signal } };
}

test('begins at once, one round at a time', async () => {
  await using stack = new AsyncDisposableStack();
  const { options } = sweepOptions(10);
  let running = 0;
  let most = 0;
  let rounds = 0;
  const round = async () => {
    running += 1;
    rounds += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 35));
    running -= 1;
  };
  startSweep(round, { ...options, stack });
  expect(rounds).toBe(1);
  await eventually('three rounds', () => rounds >= 3);
  expect(most).toBe(1);
});

test('a round that fails is logged, and the next one comes', async () => {
  await using stack = new AsyncDisposableStack();
  const { lines, options } = sweepOptions(10);
  let rounds = 0;
  const round = async () => {
    rounds += 1;
    throw new Error('no table');
  };
  startSweep(round, { ...options, stack });
  await eventually('two rounds', () => rounds >= 2);
  expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ level: 'error', sweep: 'test', err: { message: 'no table' } });
});

test('one that goes on failing is logged once, and again after it worked', async () => {
  await using stack = new AsyncDisposableStack();
  const { lines, options } = sweepOptions(5);
  let rounds = 0;
  let isAway = true;
  const round = async () => {
    rounds += 1;
    if (isAway) throw new Error('away');
  };
  const after = (more: number) => {
    const until = rounds + more;
    return eventually('rounds', () => rounds >= until);
  };
  startSweep(round, { ...options, stack });
  await after(5);
  isAway = false;
  await after(5);
  isAway = true;
  await after(5);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'a sweep failed; the next one tries again',
    'the sweep works again',
    'a sweep failed; the next one tries again',
  ]);
});

test('a stop waits for the round under way, and no other follows', async () => {
  const stack = new AsyncDisposableStack();
  const { options } = sweepOptions(5);
  let finished = 0;
  const round = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    finished += 1;
  };
  startSweep(round, { ...options, stack });
  await stack.disposeAsync();
  expect(finished).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(finished).toBe(1);
});

test('no sweep begins a round while a stop waits for that of another', async () => {
  const stack = new AsyncDisposableStack();
  const { options } = sweepOptions(5);
  const stopping = new AbortController();
  let rounds = 0;
  const count = async () => {
    rounds += 1;
  };
  startSweep(count, { ...options, stopping: stopping.signal, stack });
  startSweep(() => new Promise((resolve) => setTimeout(resolve, 100)), {
    ...options,
    stopping: stopping.signal,
    stack,
  });
  stack.defer(() => stopping.abort());
  const atStop = rounds;
  await stack.disposeAsync();
  expect(rounds).toBe(atStop);
});
