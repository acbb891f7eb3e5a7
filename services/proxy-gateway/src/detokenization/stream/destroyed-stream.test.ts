import { once } from 'node:events';
import type { Pieces } from '@sluice/service-runtime';
import { eventually } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import { alone, countedRoom } from '../../testing/reveal-alone.ts';
import type { Asked } from '../asked.ts';
import { RevealStream } from './reveal-stream.ts';

const limitBytes = 2 ** 20;

test('a stream that is destroyed while its values are fetched uses its room no more', async () => {
  const used: string[] = [];
  let isOver = false;
  const noted = <T>(name: string, then: T): T => {
    if (isOver) used.push(name);
    return then;
  };
  const room = countedRoom(() => noted('room', undefined));
  const fetched = Promise.withResolvers<Map<string, Json>>();
  const asked = Promise.withResolvers<void>();
  const fetchValues = () => {
    asked.resolve();
    return fetched.promise;
  };
  const run = <T>(work: Pieces<T>) => noted('turn', alone.run(work));
  const reserve = () => noted('reservation', room);
  const stream = new RevealStream({
    look: () => undefined,
    kind: 'json',
    fetchValues,
    run,
    reserve,
    limitBytes,
  });
  stream.resume();
  stream.write(Buffer.from(`["${'x'.repeat(300_000)}{{tok}}","${'x'.repeat(200_000)}`));
  await asked.promise;
  expect(room.bytes).toBeGreaterThan(0);
  stream.destroy();
  isOver = true;
  fetched.resolve(new Map([['tok', 'x'.repeat(500_000)]]));
  await once(stream, 'close');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(used).toEqual([]);
  expect(room.bytes).toBe(0);
});

test.each(['waits for its reader', 'is searched'])(
  'a stream that is destroyed while a window %s opens no token of it',
  async (when) => {
    const isSearched = when === 'is searched';
    const [searching, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const run = async <T>(work: Pieces<T>) => {
      searching.resolve();
      if (isSearched) await goOn.promise;
      return alone.run(work);
    };
    let fetches = 0;
    const fetchValues = async ({ tokenIds }: Asked) => {
      fetches += 1;
      return new Map(tokenIds.map((id) => [id, 'x']));
    };
    const stream = new RevealStream({
      ...alone,
      kind: 'text',
      run,
      fetchValues,
      limitBytes,
      windowBytes: 1000,
    });
    const before = isSearched ? '' : 'x'.repeat(1500);
    stream.write(Buffer.from(`${before}{{one}} ${'x'.repeat(1500)} {{two}} ${'x'.repeat(1500)}`));
    if (isSearched) await searching.promise;
    else await eventually('a window that nobody reads', () => stream.readableLength >= 1000);
    await new Promise((resolve) => setImmediate(resolve));
    stream.destroy();
    goOn.resolve();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(fetches).toBe(0);
  },
);
