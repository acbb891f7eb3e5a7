import { RowChunk } from './row-chunk.ts';
import { RowQueue } from './row-queue.ts';

function push(queue: RowQueue<string>, rows: readonly string[], segment = 'file'): void {
  for (const row of rows) {
    const chunk = queue.write(row);
    queue.push(chunk, chunk.count - 1, segment);
  }
}

function takeAll(queue: RowQueue<string>, most: number): string[] {
  const taken: string[] = [];
  for (let batch = queue.first(most); batch; batch = queue.first(most)) {
    taken.push(...batch.text().split('\n'));
    queue.removeFirst(batch);
  }
  return taken;
}

test('rows come out as they went in, whatever their size and their characters', () => {
  const queue = new RowQueue<string>();
  const rows = [
    '{"a":1}',
    '{"b":"é😀"}',
    `{"c":"${'x'.repeat(700_000)}"}`,
    `{"d":"${'€'.repeat(150_000)}"}`,
    '{"e":5}',
  ];
  push(queue, rows);
  expect(queue.length).toBe(5);
  expect(queue.bytes).toBe(rows.reduce((sum, row) => sum + Buffer.byteLength(row) + 1, 0));
  expect(takeAll(queue, 2)).toEqual(rows);
  expect([queue.length, queue.bytes]).toEqual([0, 0]);
});

test('rows in order are one range; another file begins another', () => {
  const queue = new RowQueue<string>();
  push(queue, ['1', '2', '3']);
  push(queue, ['4'], 'next file');
  expect(queue.first(1000)?.length).toBe(3);
  expect(takeAll(queue, 1000)).toEqual(['1', '2', '3', '4']);
});

test('what could not be spooled is taken back, and nothing else', () => {
  const queue = new RowQueue<string>();
  push(queue, ['1']);
  const chunk = queue.write('2');
  queue.write('3');
  queue.takeBack(chunk, 1);
  expect([queue.length, queue.bytes]).toEqual([1, 2]);
  push(queue, ['4']);
  expect(takeAll(queue, 1000)).toEqual(['1', '4']);
});

test('what was spooled before comes before what waits', () => {
  const queue = new RowQueue<string>();
  push(queue, ['3']);
  queue.putFirst([
    { row: '1', segment: 'a' },
    { row: '2', segment: 'b' },
  ]);
  expect(takeAll(queue, 1000)).toEqual(['1', '2', '3']);
});

test('memory of rows that are gone is used again: rows that come and go need two chunks', () => {
  const queue = new RowQueue<string>();
  const chunks = new Set<RowChunk>();
  const row = 'x'.repeat(1000);
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 100; i++) {
      const chunk = queue.write(row);
      chunks.add(chunk);
      queue.push(chunk, chunk.count - 1, 'file');
    }
    for (let taken = 0; taken < 90; ) {
      const batch = queue.first(90 - taken);
      if (!batch) break;
      taken += batch.length;
      queue.removeFirst(batch);
    }
  }
  expect(chunks.size).toBeLessThanOrEqual(3);
  expect(queue.length).toBe(200);
});

test('the control: a chunk says when it is full', () => {
  const chunk = new RowChunk();
  let count = 0;
  while (chunk.add('x'.repeat(999))) count++;
  expect(count).toBe(524);
});
