import { closeAll, open, outcomeOf, startServer, until } from '../testing/destination-servers.ts';
import { forward, streamThrough } from './index.ts';

afterEach(closeAll);

describe.each([
  ['held', forward],
  ['streamed', streamThrough],
])('a call that is %s, of a gateway that stops', (_, send: typeof forward) => {
  const scene = async () => {
    const waiting: (() => void)[] = [];
    const { origin, received } = await startServer((_request, response) => waiting.push(() => response.end()));
    const destinations = open();
    const call = (noCallerWaits?: boolean) =>
      outcomeOf((sink) =>
        send(
          { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body: undefined, noCallerWaits },
          destinations,
          sink,
        ),
      );
    const answerAll = () => {
      for (const answer of waiting.splice(0)) answer();
    };
    return { destinations, received, call, answerAll };
  };

  test('is given up before the process ends', async () => {
    const { destinations, received, call } = await scene();
    const outcome = call();
    await until(() => received.length === 1);
    destinations.endUnanswered();
    expect(await outcome).toMatchObject({ error: { code: 'unavailable' } });
    expect(await call()).toMatchObject({ error: { code: 'unavailable' } });
    expect(received).toHaveLength(1);
  });

  test('goes on, and others begin, where no caller waits', async () => {
    const { destinations, received, call, answerAll } = await scene();
    const first = call(true);
    await until(() => received.length === 1);
    destinations.endUnanswered();
    const second = call(true);
    await until(() => received.length === 2);
    answerAll();
    expect(await Promise.all([first, second])).toMatchObject([{ status: 200 }, { status: 200 }]);
    await destinations.close(0);
    expect(await call(true)).toMatchObject({ error: { code: 'unavailable' } });
  });
});
