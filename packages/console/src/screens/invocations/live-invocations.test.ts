import { setTimeout as wait } from 'node:timers/promises';
import { ConnectionError, ForbiddenError, type Invocation, type Sluice, type StreamEvent } from '@sluice/sdk';
import { eventually } from '@sluice/testing';
import { LiveInvocations, mostRows } from './live-invocations.ts';

type Event = StreamEvent<Invocation>;

const invocation: Invocation = {
  trace_id: 't',
  at: '2026-03-02T09:30:00.000Z',
  proxy_id: 'p',
  method: 'POST',
  status: 200,
  stages_ms: { total: 1 },
  token_ids: [],
};
const event = (id: number): Event => ({ event: 'invocation', id: `${id}-0`, data: invocation });
const events = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => event(from + at));
const ended = () => new ConnectionError({ operation: 'GET /invocations', code: undefined, title: 'ended' });

/** Each connection has the next list of events, and then fails or stays open. */
function follow(...connections: { events: Event[]; fault?: Error }[]) {
  const asked: unknown[] = [];
  const leaving = new AbortController();
  const { signal } = leaving;
  const watch: Sluice['invocations']['watch'] = async function* (query, options) {
    asked.push(query);
    const { events: coming, fault } = connections.shift() ?? { events: [] };
    options?.onHeaders?.(new Headers());
    yield* coming;
    if (fault) throw fault;
    await wait(600_000, undefined, { signal });
  };
  const live = new LiveInvocations(watch);
  const following = live.follow({ status: 502 }, signal);
  return {
    live,
    asked,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await following;
      live.stop();
    },
  };
}

const ids = ({ live }: { live: LiveInvocations }) => live.view().rows.map(({ id }) => Number.parseInt(id, 10));

test('rows come newest first, with what the service has left out', async () => {
  await using following = follow({ events: [event(1), { event: 'skipped', data: { skipped: 12 } }, event(2)] });
  await eventually('both', () => following.live.view().rows.length === 2);
  expect(ids(following)).toEqual([2, 1]);
  expect(following.live.view()).toMatchObject({ state: 'live', skipped: 12, waiting: 0 });
  expect(following.asked).toEqual([{ status: 502, size: 100 }]);
});

test('of many at once the newest are kept, and the others counted', async () => {
  await using following = follow({ events: events(0, mostRows + 50) });
  await eventually('the newest', () => following.live.view().rows.length === mostRows);
  expect([ids(following)[0], ids(following).at(-1), following.live.view().skipped]).toEqual([mostRows + 49, 50, 50]);
});

test('while it is paused nothing moves; then what came is there', async () => {
  await using following = follow({ events: [] });
  await eventually('it is live', () => following.live.view().state === 'live');
  following.live.setPaused(true);
  await using paused = follow({ events: events(0, 3) });
  paused.live.setPaused(true);
  await eventually('they wait', () => paused.live.view().waiting === 3);
  expect(ids(paused)).toEqual([]);
  paused.live.setPaused(false);
  expect(ids(paused)).toEqual([2, 1, 0]);
  expect(paused.live.view().waiting).toBe(0);
});

test('a stream that ends begins again, and shows no row twice', async () => {
  await using following = follow({ events: events(0, 2), fault: ended() }, { events: events(0, 3) });
  await eventually('the third', () => following.live.view().rows.length === 3);
  expect(ids(following)).toEqual([2, 1, 0]);
  expect(following.live.view().state).toBe('live');
});

test('a stream that is refused is not asked for again', async () => {
  const refused = new ForbiddenError({
    operation: 'GET /invocations',
    code: 'forbidden',
    status: 403,
    title: 'Forbidden',
  });
  await using following = follow({ events: [], fault: refused });
  await eventually('it has failed', () => following.live.view().state === 'failed');
  expect(following.live.view().error).toBe(refused);
  expect(following.asked).toHaveLength(1);
});

test('what comes after it was stopped and followed again is shown', async () => {
  let connections = 0;
  const live = new LiveInvocations(async function* (_query, options) {
    yield event(connections++);
    await wait(600_000, undefined, { ...(options?.signal && { signal: options.signal }) });
  });
  const leave = async (leaving: AbortController, following: Promise<void>) => {
    leaving.abort();
    await following;
    live.stop();
  };
  const first = new AbortController();
  const following = live.follow({}, first.signal);
  await new Promise(setImmediate); // the row has come, and waits to be shown
  await leave(first, following);
  const second = new AbortController();
  const again = live.follow({}, second.signal);
  await eventually('both rows', () => live.view().rows.length === 2).finally(() => leave(second, again));
});
