import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackDebianPackages } from '@sluice/local';
import { defaultDirectory } from '@sluice/local/parts';
import { defaultTransformLimits, openTransformPool } from '@sluice/sandbox';

/** All members of a URL, or that it threw; JSON, since that is what comes out of the sandbox. */
type Answer = Record<string, unknown>;

const parts = 'href origin protocol username password host hostname port pathname search hash'.split(' ');
const show = `const show = (make) => { try { const url = make(); return { ...Object.fromEntries(${JSON.stringify(parts)}.map((part) => [part, url[part]])),
    searchParams: [...url.searchParams], text: String(url), json: JSON.stringify(url) } } catch (error) { return { threw: error.name, code: error.code } } };`;
const parse = `${show} return cases.map(({ input, base }) => show(() => base === null ? new URL(input) : new URL(input, base)))`;
const set = `${show} return cases.map(({ href, part, new_value }) => show(() => { const url = new URL(href); url[part] = new_value; return url }))`;

const limits = { ...defaultTransformLimits, cpuMs: 60_000, wallMs: 120_000, outputBytes: 20 * 2 ** 20 };
const pool = openTransformPool({ limits, threads: 1, queueLimit: 10, headerPrefix: 'SVC' });
let tests: string;
beforeAll(async () => {
  [tests] = await Promise.all([findTestData(), pool.ready()]);
});
afterAll(() => pool.close());

/** The folder of the URL standard's tests in the Debian package of the crate `url`; they are not on npm. */
async function findTestData(): Promise<string> {
  const downloads = join(defaultDirectory, 'downloads');
  const root = await unpackDebianPackages({ packages: ['librust-url-dev'], directory: downloads });
  const crates = join(root, 'usr', 'share', 'cargo', 'registry');
  const source = (await readdir(crates)).find((name) => /^url-\d/.test(name));
  if (source === undefined) throw new Error(`There is no crate url in ${crates}`);
  return join(crates, source, 'tests');
}

const read = async (name: string) => JSON.parse(await readFile(join(tests, name), 'utf8'));

async function answersOf(cases: readonly unknown[], statements: string): Promise<[node: Answer[], sandbox: Answer[]]> {
  const node = JSON.parse(JSON.stringify(new Function('cases', statements)(cases)));
  const code = `module.exports = ({ args: { body: cases } }) => ({ body: (() => { ${statements} })() })`;
  const argsJson = JSON.stringify({ body: cases });
  const ids = { tenantId: 't', ownerId: 'p', kind: 'request' } as const;
  const { bodyJson = '[]' } = await pool.run({ ...ids, code, argsJson, configuration: async () => '{}' });
  return [node, JSON.parse(bodyJson)];
}

/** The sandbox must answer as Node.js does; how often both are what WPT expects depends on the age of its data. */
async function compare(cases: readonly { expected: Answer }[], statements: string): Promise<void> {
  const [node, sandbox] = await answersOf(cases, statements);
  expect([node.length, sandbox.length]).toEqual([cases.length, cases.length]);
  const isSame = (index: number) => JSON.stringify(node[index]) === JSON.stringify(sandbox[index]);
  const isExpected = ({ expected }: { expected: Answer }, index: number) =>
    Object.entries({ threw: undefined, ...expected }).every(([part, value]) => sandbox[index]?.[part] === value);
  const different = cases.flatMap((one, index) =>
    isSame(index) ? [] : [{ one, node: node[index], sandbox: sandbox[index] }],
  );
  const asWpt = cases.filter((one, index) => isSame(index) && isExpected(one, index)).length;
  console.info(`${tests}: ${cases.length} cases; as Node.js ${cases.length - different.length}; both as WPT ${asWpt}`);
  expect(different).toEqual([]);
  expect(asWpt / cases.length).toBeGreaterThan(0.9);
}

/** The members of a case that say what a URL is. */
const membersOf = (one: Answer) => Object.fromEntries(Object.entries(one).filter(([part]) => parts.includes(part)));

test('URLs are parsed as Node.js parses them, in all cases of WPT', async () => {
  const all: (Answer | string)[] = await read('urltestdata.json');
  const cases = all.filter((one) => typeof one === 'object'); // comments stand between the cases as text
  expect(cases.length).toBeGreaterThan(500);
  const expected = (one: Answer) => (one.failure ? { threw: 'TypeError' } : membersOf(one));
  await compare(
    cases.map((one) => ({ ...one, expected: expected(one) })),
    parse,
  );
});

test('members of URLs are set as Node.js sets them, in all cases of WPT', async () => {
  const { comment: _, ...setters }: Record<string, { expected: Answer }[]> = await read('setters_tests.json');
  const cases = Object.entries(setters).flatMap(([part, each]) =>
    each.map((one) => ({ ...one, part, expected: membersOf(one.expected) })),
  );
  expect(cases.length).toBeGreaterThan(150);
  await compare(cases, set);
});

test('a URL that is parsed otherwise is noticed', async () => {
  const statements = `${show} return cases.map((input) => show(() => new URL(typeof WebAssembly + input)))`;
  const [node, sandbox] = await answersOf(['://h/'], statements);
  expect([node[0], sandbox[0]]).toMatchObject([{ href: 'object://h/' }, { href: 'undefined://h/' }]);
});
