import { RowChunk } from './row-chunk.ts';
import { RowQueue } from './row-queue.ts';
import { Share, WaitingRows } from './waiting-rows.ts';

const tenantId = 't';
const share = new Share(tenantId);
const emptyQueue = () => new RowQueue<string>(new WaitingRows());

function push(queue: RowQueue<string>, rows: readonly string[], segment = 'file'): void {
  for (const row of rows) {
    const chunk = queue.write(row, share);
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
  const queue = emptyQueue();
  const rows = [
    '{"a":1}',
    '{"b":"é😀"}',
    `{"c":"${'x'.repeat(700_000)}"}`,
    `{"d":"${'€'.repeat(150_000)}"}`,
    '{"e":5}',
  ];
  push(queue, rows);
  expect(queue.length).toBe(5);
  expect(takeAll(queue, 2)).toEqual(rows);
  expect(queue.length).toBe(0);
});

test('what waits is counted in all and by Tenant, a row of more than 1 KiB as several', () => {
  const waiting = new WaitingRows();
  const queue = new RowQueue<string>(waiting);
  const counts = () => [waiting.count, waiting.of('a').count, waiting.of('b').count];
  for (const [tenant, row] of Object.entries({ a: 'é'.repeat(5 * 512 - 1), b: '1' })) {
    const chunk = queue.write(row, waiting.of(tenant));
    queue.push(chunk, chunk.count - 1, 'file');
  }
  const chunk = queue.write('2', waiting.of('b'));
  queue.putFirst([{ row: '0', tenantId: 'b', segment: 'other' }]);
  expect(counts()).toEqual([6, 5, 3]);
  queue.takeBack(chunk, chunk.count - 1);
  expect(counts()).toEqual([6, 5, 2]);
  const { length } = takeAll(queue, 1);
  expect([length, ...counts()]).toEqual([3, 0, 0, 0]);
});

test('rows in order are one range; another file begins another', () => {
  const queue = emptyQueue();
  push(queue, ['1', '2', '3']);
  push(queue, ['4'], 'next file');
  expect(queue.first(1000)?.length).toBe(3);
  expect(takeAll(queue, 1000)).toEqual(['1', '2', '3', '4']);
});

test('what could not be spooled is taken back, and nothing else', () => {
  const queue = emptyQueue();
  push(queue, ['1']);
  const chunk = queue.write('2', share);
  queue.write('3', share);
  queue.takeBack(chunk, 1);
  expect(queue.length).toBe(1);
  push(queue, ['4']);
  expect(takeAll(queue, 1000)).toEqual(['1', '4']);
});

test('what was spooled before comes before what waits', () => {
  const queue = emptyQueue();
  push(queue, ['3']);
  queue.putFirst([
    { row: '1', tenantId, segment: 'a' },
    { row: '2', tenantId, segment: 'b' },
  ]);
  expect(takeAll(queue, 1000)).toEqual(['1', '2', '3']);
});

test('memory of rows that are gone is used again: rows that come and go need two chunks', () => {
  const queue = emptyQueue();
  const chunks = new Set<RowChunk>();
  const row = 'x'.repeat(1000);
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 100; i++) {
      const chunk = queue.write(row, share);
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
  while (chunk.add('x'.repeat(999), share)) count++;
  expect(count).toBe(524);
});
