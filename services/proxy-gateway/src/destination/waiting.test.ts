import type { ServerResponse } from 'node:http';
import { closeAll, open, outcomeOf, startServer, until } from '../testing/destination-servers.ts';
import { type DestinationCall, forward, streamThrough } from './index.ts';

afterEach(closeAll);

describe.each([
  ['held', forward],
  ['streamed', streamThrough],
])('%s', (_, send: typeof forward) => {
  async function setUp() {
    const answers: ServerResponse[] = [];
    const { origin } = await startServer((_request, response) => void answers.push(response));
    const destinations = open({ maxConnectionsPerOrigin: 2, maxWaitingPerOrigin: 3 });
    const request = { tenantId: 'a', origin, path: '/', method: 'POST', headers: [], body: undefined };
    const calls: DestinationCall[] = [];
    const call = () =>
      outcomeOf((sink) => {
        const started = send(request, destinations, sink);
        calls.push(started);
        return started;
      });
    return { answers, destinations, call, calls };
  }

  test('as many as may wait do, the next is 503, and each answer makes room', async () => {
    const { answers, destinations, call } = await setUp();
    const outcomes = [1, 2, 3, 4, 5].map(call);
    await until(() => answers.length === 2);
    expect(destinations.state()).toMatchObject({ waiting: 3, waitingRefusals: 0 });
    expect((await call()).error).toMatchObject({ status: 503, retryAfterSeconds: 1 });
    expect(destinations.state()).toMatchObject({ waiting: 3, waitingRefusals: 1 });
    answers[0]?.end();
    await until(() => answers.length === 3);
    expect(destinations.state().waiting).toBe(2);
    outcomes.push(call());
    expect(destinations.state().waiting).toBe(3);
    for (let i = 1; i < 6; i++) {
      await until(() => answers.length > i);
      answers[i]?.end();
    }
    for (const { status } of await Promise.all(outcomes)) expect(status).toBe(200);
    expect(destinations.state()).toMatchObject({ waiting: 0, waitingRefusals: 1 });
  });

  test('one that is given up makes room at once, and never reaches the destination', async () => {
    const { answers, destinations, call, calls } = await setUp();
    void [1, 2, 3, 4, 5].map(call);
    await until(() => answers.length === 2);
    for (const waiting of calls.slice(2)) waiting.abort();
    expect(destinations.state().waiting).toBe(0);
    const outcomes = [call(), call(), call()];
    answers[0]?.end();
    for (const [i, outcome] of outcomes.entries()) {
      await until(() => answers.length === i + 3);
      answers[i + 2]?.end();
      expect((await outcome).status).toBe(200);
    }
    expect(answers).toHaveLength(5);
  });

  test('a burst opens no more connections than it may, and uses them again', async () => {
    let busy = 0;
    let mostBusy = 0;
    const { origin, connections, received } = await startServer((_request, response) => {
      mostBusy = Math.max(mostBusy, ++busy);
      setTimeout(() => {
        busy--;
        response.end();
      }, 5);
    });
    const destinations = open({ maxConnectionsPerOrigin: 3 });
    const request = { tenantId: 'a', origin, path: '/', method: 'POST', headers: [], body: undefined };
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => outcomeOf((sink) => send(request, destinations, sink))),
    );
    for (const { status } of outcomes) expect(status).toBe(200);
    expect([mostBusy, connections(), new Set(received.map(({ port }) => port)).size]).toEqual([3, 3, 3]);
  });

  test('one whose time is up while it waits is 504, and those that wait at the end are 503', async () => {
    const { origin } = await startServer(() => {});
    const late = open({ maxConnectionsPerOrigin: 1, headTimeoutMs: 200 });
    const request = { tenantId: 'a', origin, path: '/', method: 'POST', headers: [], body: undefined };
    const outcomes = [1, 2, 3].map(() => outcomeOf((sink) => send(request, late, sink)));
    for (const { error } of await Promise.all(outcomes)) expect(error).toMatchObject({ status: 504 });
    expect(late.state().waiting).toBe(0);

    const closing = open({ maxConnectionsPerOrigin: 1 });
    const last = [1, 2, 3].map(() => outcomeOf((sink) => send(request, closing, sink)));
    await closing.close(50);
    const errors = (await Promise.all(last)).map(({ error }) => error);
    for (const error of errors.slice(1)) expect(error).toMatchObject({ status: 503 });
  });

  test('connections that fail leave nothing behind', async () => {
    const destinations = open({ maxConnectionsPerOrigin: 2, maxWaitingPerOrigin: 3 });
    const { origin, server } = await startServer();
    await new Promise((resolve) => server.close(resolve));
    const request = { tenantId: 'a', origin, path: '/', method: 'POST', headers: [], body: undefined };
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.all(
        [1, 2, 3, 4].map(() => outcomeOf((sink) => send(request, destinations, sink))),
      );
      for (const { error } of outcomes) expect(error).toMatchObject({ status: 502 });
      await until(() => destinations.state().waiting === 0);
    }
    expect(destinations.state().waitingRefusals).toBe(0);
  });
});
