import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackDebianPackages } from '@sluice/local';

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

export interface UrlTestData {
  parsing: ParseCase[];
  setters: SetterCase[];
  /** The package that carries the data, with its version. */
  source: string;
}

const crates = join('usr', 'share', 'cargo', 'registry');
const downloads = join(import.meta.dirname, '..', '..', '..', '..', '.sluice', 'downloads');

/**
 * The test data of the URL standard, as the Debian package of the crate `url` carries it; it is not on npm.
 * @throws {LaunchError} where the package cannot be had.
 */
export async function readUrlTestData(): Promise<UrlTestData> {
  const root = await unpackDebianPackages({ packages: ['librust-url-dev'], directory: downloads });
  const source = (await readdir(join(root, crates))).find((name) => /^url-\d/.test(name));
  if (source === undefined) throw new Error(`There is no crate url in ${join(root, crates)}`);
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(root, crates, source, 'tests', name), 'utf8'));
  const parsing = (await read('urltestdata.json')) as (ParseCase | string)[];
  const setters = (await read('setters_tests.json')) as Record<string, Omit<SetterCase, 'part'>[]>;
  return {
    // Comments stand between the cases as text.
    parsing: parsing.filter((one) => typeof one === 'object'),
    setters: Object.entries(setters).flatMap(([part, cases]) =>
      part === 'comment' ? [] : cases.map((one) => ({ ...one, part })),
    ),
    source,
  };
}
