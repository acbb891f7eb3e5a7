import { setTimeout as wait } from 'node:timers/promises';
import { underWay } from '../coherence/client.ts';
import { emptyHistory, type Invocation, type Regeneration } from '../coherence/history.ts';
import { untilQuiet } from './quiet.ts';

const quietMs = 200;
const lastsMs = 500;

const invocation = (detail: string, startedAt: number, endedAt: number): Invocation => ({
  ...{ application: 0, key: 0, target: 'gateway-1', outcome: 'undecided', detail, startedAt, endedAt },
});

const regeneration = (outcome: Regeneration['outcome'], endedAt: number): Regeneration => ({
  ...{ application: 0, number: 1, startedAt: endedAt - 1, endedAt, outcome, detail: '503' },
});

test.each<[what: string, (startedAt: number, now: number) => Partial<ReturnType<typeof emptyHistory>>]>([
  ['an invocation that fails', (_, now) => ({ invocations: [invocation('503', now - 1, now)] })],
  ['one without an answer', (startedAt) => ({ invocations: [invocation(underWay, startedAt, Infinity)] })],
  ['a change without a success', (_, now) => ({ regenerations: [regeneration('indeterminate', now)] })],
])('there is no quiet with %s', async (_, noted) => {
  const startedAt = performance.now();
  const isOver = () => performance.now() > startedAt + lastsMs;
  const history = () => ({ ...emptyHistory(), ...(!isOver() && noted(startedAt, performance.now())) });
  await untilQuiet({ client: { history }, pause: (ms) => wait(ms) }, quietMs);
  expect(isOver()).toBe(true);
});

test('there is with what was answered, what failed before, and what has just begun', async () => {
  const startedAt = performance.now();
  const now = () => performance.now();
  const history = () => ({
    ...emptyHistory(),
    invocations: [
      invocation('503', startedAt - 2, startedAt - 1),
      invocation('401', now() - 2, now() - 1),
      invocation(underWay, now() - 1, Infinity),
    ],
    regenerations: [regeneration('confirmed', now() - 1)],
  });
  const since = await untilQuiet({ client: { history }, pause: (ms) => wait(ms) }, quietMs);
  expect(since).toBeGreaterThanOrEqual(startedAt);
});
