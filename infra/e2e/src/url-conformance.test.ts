import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackDebianPackages } from '@sluice/local';
import { defaultDirectory } from '@sluice/local/parts';
import { defaultTransformLimits, openTransformPool } from '@sluice/sandbox';

/** One of WPT's `urltestdata.json`: what `new URL(input, base)` gives, or that it throws. */
interface ParseCase {
  input: string;
  base: string | null;
  failure?: true;
  /** The other members are those of the URL that the case says anything of. */
  [part: string]: unknown;
}

/** One of WPT's `setters_tests.json`: what a URL is after one of its members was set. */
interface SetterCase {
  part: string;
  href: string;
  new_value: string;
  expected: Record<string, string>;
}

/** All members of a URL, or that it threw; JSON, since that is what comes out of the sandbox. */
type Answer = { threw: string; code?: string } | { threw?: undefined; [part: string]: unknown };

const parts = 'href origin protocol username password host hostname port pathname search hash'.split(' ');
const show = `const show = (make) => { try { const url = make(); return { ...Object.fromEntries(${JSON.stringify(parts)}.map((part) => [part, url[part]])),
    searchParams: [...url.searchParams], text: String(url), json: JSON.stringify(url) } } catch (error) { return { threw: error.name, code: error.code } } };`;
const parse = `${show} return cases.map(({ input, base }) => show(() => base === null ? new URL(input) : new URL(input, base)))`;
const set = `${show} return cases.map(({ href, part, new_value }) => show(() => { const url = new URL(href); url[part] = new_value; return url }))`;

const limits = { ...defaultTransformLimits, cpuMs: 60_000, wallMs: 120_000, outputBytes: 20 * 2 ** 20 };
const pool = openTransformPool({ limits, threads: 1, queueLimit: 10, headerPrefix: 'SVC' });
let data: Awaited<ReturnType<typeof readTestData>>;
beforeAll(async () => {
  [data] = await Promise.all([readTestData(), pool.ready()]);
}, 300_000);
afterAll(() => pool.close());

/** The test data of the URL standard, as the Debian package of the crate `url` carries it; it is not on npm. */
async function readTestData() {
  const downloads = join(defaultDirectory, 'downloads');
  const root = await unpackDebianPackages({ packages: ['librust-url-dev'], directory: downloads });
  const crates = join(root, 'usr', 'share', 'cargo', 'registry');
  const source = (await readdir(crates)).find((name) => /^url-\d/.test(name));
  if (source === undefined) throw new Error(`There is no crate url in ${crates}`);
  const read = async (name: string) => JSON.parse(await readFile(join(crates, source, 'tests', name), 'utf8'));
  const parsing: (ParseCase | string)[] = await read('urltestdata.json');
  const { comment: _, ...setters }: Record<string, Omit<SetterCase, 'part'>[]> = await read('setters_tests.json');
  return {
    source,
    // Comments stand between the cases as text.
    parsing: parsing.filter((one) => typeof one === 'object'),
    setters: Object.entries(setters).flatMap(([part, cases]) => cases.map((one): SetterCase => ({ ...one, part }))),
  };
}

async function answersOf(cases: readonly unknown[], statements: string) {
  const node: Answer[] = JSON.parse(JSON.stringify(new Function('cases', statements)(cases)));
  const code = `module.exports = ({ args: { body: cases } }) => ({ body: (() => { ${statements} })() })`;
  const argsJson = JSON.stringify({ body: cases });
  const ids = { tenantId: 't', proxyId: 'p', kind: 'request' } as const;
  const { bodyJson = '[]' } = await pool.run({ ...ids, code, argsJson, configuration: async () => '{}' });
  const sandbox: Answer[] = JSON.parse(bodyJson);
  return { node, sandbox };
}

const holds = (answer: Answer | undefined, expected: Record<string, unknown>) =>
  answer !== undefined &&
  answer.threw === undefined &&
  Object.entries(expected).every(([part, value]) => !parts.includes(part) || answer[part] === value);

interface Comparison<T> {
  name: string;
  statements: string;
  isExpected: (one: T, answer?: Answer) => boolean;
}

/** The sandbox must answer as Node.js does; how often both are what WPT expects depends on the age of its data. */
async function compare<T>(cases: readonly T[], { name, statements, isExpected }: Comparison<T>) {
  const { node, sandbox } = await answersOf(cases, statements);
  expect([node.length, sandbox.length]).toEqual([cases.length, cases.length]);
  const isSame = (index: number) => JSON.stringify(node[index]) === JSON.stringify(sandbox[index]);
  const different = cases.flatMap((one, index) =>
    isSame(index) ? [] : [{ one, node: node[index], sandbox: sandbox[index] }],
  );
  const asNode = cases.length - different.length;
  const asWpt = cases.filter((one, index) => isSame(index) && isExpected(one, sandbox[index])).length;
  console.info(`${name} of ${data.source}: ${cases.length}; as Node.js ${asNode}; both as WPT ${asWpt}`);
  expect(different).toEqual([]);
  expect(asWpt / cases.length).toBeGreaterThan(0.9);
}

test('URLs are parsed as Node.js parses them, in all cases of WPT', async () => {
  expect(data.parsing.length).toBeGreaterThan(500);
  await compare(data.parsing, {
    name: 'cases of urltestdata.json',
    statements: parse,
    isExpected: ({ failure, ...expected }, answer) =>
      failure ? answer?.threw === 'TypeError' : holds(answer, expected),
  });
}, 120_000);

test('members of URLs are set as Node.js sets them, in all cases of WPT', async () => {
  expect(data.setters.length).toBeGreaterThan(150);
  await compare(data.setters, {
    name: 'cases of setters_tests.json',
    statements: set,
    isExpected: ({ expected }, answer) => holds(answer, expected),
  });
}, 120_000);

test('a URL that is parsed otherwise is noticed', async () => {
  const statements = `${show} return cases.map((input) => show(() => new URL(typeof WebAssembly + input)))`;
  const { node, sandbox } = await answersOf(['://h/'], statements);
  expect([node[0], sandbox[0]]).toMatchObject([{ href: 'object://h/' }, { href: 'undefined://h/' }]);
});
