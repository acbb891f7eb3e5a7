import { type Pieces, WorkPieces } from './work-pieces.ts';

function* work(name: string, count: number, done: string[]): Pieces<string> {
  for (let at = 1; at <= count; at += 1) {
    done.push(`${name}${at}`);
    if (at < count) yield;
  }
  return name;
}

test('work of one piece is done at once', () => {
  const done: string[] = [];
  void new WorkPieces().run('a', work('a', 1, done));
  expect(done).toEqual(['a1']);
});

test('Tenants that wait have their turn one after the other, however much one of them has waiting', async () => {
  const pieces = new WorkPieces();
  const done: string[] = [];
  const all = ['a', 'b', 'c'].map((name) => pieces.run('A', work(name, 3, done)));
  await pieces.run('B', work('x', 3, done));
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  expect(done).toEqual(['a1', 'b1', 'c1', 'x1', 'a2', 'x2', 'b2', 'x3', 'c2', 'a3', 'b3', 'c3']);
});

test('between two pieces the event loop goes on', async () => {
  const done: string[] = [];
  const long = new WorkPieces().run('a', work('a', 10, done));
  setImmediate(() => setImmediate(() => done.push('other')));
  await long;
  expect(done.indexOf('other')).toBeLessThan(5);
});

test('what a piece throws is the error of the work, and the next work runs', async () => {
  const pieces = new WorkPieces();
  const failing = (function* (): Pieces<void> {
    yield;
    throw new Error('broken');
  })();
  await expect(pieces.run('a', failing)).rejects.toThrow('broken');
  await expect(pieces.run('a', work('a', 2, []))).resolves.toBe('a');
});

test('a promise that work yields is awaited before its next piece; others go on meanwhile', async () => {
  const pieces = new WorkPieces();
  const done: string[] = [];
  const room = Promise.withResolvers<void>();
  const waiting = (function* (): Pieces<void> {
    yield room.promise;
    done.push('after the room');
  })();
  const waited = pieces.run('A', waiting);
  await pieces.run('A', work('a', 3, done));
  expect(done).toEqual(['a1', 'a2', 'a3']);
  room.resolve();
  await waited;
  expect(done.at(-1)).toBe('after the room');
});

test('where such a promise fails, the work fails and cleans up', async () => {
  let isClean = false;
  const failing = (function* (): Pieces<void> {
    try {
      yield Promise.reject(new Error('no room'));
    } finally {
      isClean = true;
    }
  })();
  await expect(new WorkPieces().run('a', failing)).rejects.toThrow('no room');
  expect(isClean).toBe(true);
});
