import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Result, writeResults } from './results.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'results-'));
});
afterAll(() => rm(folder, { recursive: true }));

function result(id: string, ratio: number, part: Partial<Result> = {}): Result {
  const nothing = { work: '', ours: 1, peer: 1, spread: [1, 1] as [number, number], goal: null, met: null, errors: 0 };
  return { ...nothing, id, unit: 'µs', peer_name: 'http-proxy', ratio, ...part };
}

const other = { peer_name: 'undici' };

let runs = 0;
async function written(before: Result[], now: Result[], acceptsSlower = false) {
  const file = join(folder, `results-${runs++}.json`);
  await writeResults(file, before, { ran: before.map(({ id }) => id), acceptsSlower: true });
  const refused = await writeResults(file, now, { ran: now.map(({ id }) => id), acceptsSlower });
  const ratios = JSON.parse(await readFile(file, 'utf8')).map(({ id, ratio }: Result) => `${id} ${ratio}`);
  return { refused, ratios };
}

test('more than 3 % more processor time than stored is refused, and what was stored stays', async () => {
  expect(await written([result('A', 1), result('B', 1)], [result('A', 1.02), result('B', 1.04)])).toEqual({
    refused: ['B'],
    ratios: ['A 1.02', 'B 1'],
  });
});

test('if it is accepted, it is written', async () => {
  expect(await written([result('A', 1)], [result('A', 2)], true)).toEqual({ refused: [], ratios: ['A 2'] });
});

test('beside one of two peers it counts as a disturbance of that peer', async () => {
  const before = [result('A', 1), result('A', 1, other)];
  expect((await written(before, [result('A', 1.1), result('A', 1, other)])).refused).toEqual([]);
  expect((await written(before, [result('A', 1.1), result('A', 1.1, other)])).refused).toEqual(['A']);
});

test('rates, and what was never measured, are written', async () => {
  const rate = { unit: 'req/s' };
  const { refused } = await written([result('A', 1, rate)], [result('A', 2, rate), result('B', 2)]);
  expect(refused).toEqual([]);
});
