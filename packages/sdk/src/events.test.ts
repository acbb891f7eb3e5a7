import { useStack } from '@sluice/testing';
import { ConnectionError } from './index.ts';
import { lost, type Step, startScripted } from './testing/scripted-server.ts';

const item = { trace_id: 't', at: '2026-03-02T09:30:00.000Z' };
const events = [
  ': hello\n\n',
  `id: 1-0\nevent: invocation\ndata: ${JSON.stringify(item)}\n\nevent: skip`,
  'ped\ndata: {"skipped":3}\n\n: \n\n',
];

const inPieces: Step = async (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of events) await new Promise((resolve) => response.write(piece, resolve));
  response.end();
};

const held: Step = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(events[1]);
};

async function collect(step: Step[]) {
  await using stack = new AsyncDisposableStack();
  const { sluice, seen } = await startScripted(stack, step);
  const came: unknown[] = [];
  try {
    for await (const event of sluice.invocations.watch({ status: 403 })) came.push(event);
  } catch (error) {
    return { came, error, seen };
  }
  throw new Error('a stream never ends by itself');
}

test('events come whole, however they were cut, and the end of the stream is an error', async () => {
  const { came, error, seen } = await collect([inPieces]);
  expect(came).toEqual([
    { event: 'invocation', id: '1-0', data: item },
    { event: 'skipped', data: { skipped: 3 } },
  ]);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(seen[0]).toMatchObject({ url: '/invocations?status=403', headers: { accept: 'text/event-stream' } });
});

test('a connection that breaks is an error too', async () => {
  const broken: Step = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events[1], () => response.destroy());
  };
  expect((await collect([broken])).error).toBeInstanceOf(ConnectionError);
});

test('what is refused rejects as every call, and a lost beginning is tried again', async () => {
  const refused = { status: 403, body: { type: 'urn:sluice:problem:forbidden', title: 'Forbidden', status: 403 } };
  expect((await collect([refused])).error).toMatchObject({ status: 403 });
  expect((await collect([lost, inPieces])).came).toHaveLength(2);
});

describe('leaving', () => {
  const scene = useStack((stack) => startScripted(stack, [held]));

  test('the loop ends the connection', async () => {
    for await (const { event } of scene.current.sluice.invocations.watch()) {
      expect(event).toBe('invocation');
      break;
    }
  });

  test('by the signal rejects with its reason', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const watching = (async () => {
      for await (const _ of scene.current.sluice.invocations.watch({}, { signal: stop.signal })) stop.abort(reason);
    })();
    await expect(watching).rejects.toBe(reason);
  });

  test('before the first event, nothing is asked', async () => {
    const before = scene.current.seen.length;
    scene.current.sluice.invocations.watch();
    await new Promise(setImmediate);
    expect(scene.current.seen).toHaveLength(before);
  });
});
