import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { repositoryRoot as root } from '@sluice/local/parts';
import { schemas } from '../../configuration/src/schemas.ts';
import { faultTests } from './faults/table.ts';

const file = resolve(root, 'infra/SECURITY.md');
const read = (page: string) => readFile(resolve(root, 'infra', page), 'utf8');
const [threats, evidence] = await Promise.all([read('SECURITY.md'), read('promises.md')]);
const others = await Promise.all(['not-promised.md', 'public-writes.md', 'pci-dss.md'].map(read));
const text = [threats, evidence, ...others].join('\n');
const { scripts } = JSON.parse(await readFile(resolve(root, 'package.json'), 'utf8'));

const quoted = (markdown: string) => Array.from(markdown.matchAll(/`([^`\n]+)`/g), ([, words = '']) => words);

/** Files and folders of the repository that a text names: in backticks from the root on, in links from its own folder. */
function pathsIn(markdown: string): string[] {
  const named = quoted(markdown).filter((words) =>
    /^((services|packages|infra)\/\S+|docker-compose\.yml|\.\w+)$/.test(words),
  );
  const linked = Array.from(markdown.matchAll(/\]\(([^)#:]+)\)/g), ([, path = '']) => resolve(dirname(file), path));
  return [...named.map((path) => resolve(root, path)), ...linked];
}

const commandsIn = (markdown: string) => quoted(markdown).filter((words) => words.startsWith('npm run'));

/** Why a command cannot be run as it is written; undefined where it can. */
function faultOf(command: string): string | undefined {
  const [, , script = '', , argument = ''] = command.split(/\s+/);
  if (script === '…') return undefined; // the text speaks of all of them
  if (!Object.hasOwn(scripts, script)) return `${command}: there is no script ${script}`;
  const isNamed = script === 'test:faults' && argument !== '' && !argument.startsWith('-');
  if (!isNamed || faultTests.some(({ name }) => name === argument)) return undefined;
  return `${command}: there is no fault test ${argument}`;
}

function settingsIn(markdown: string): string[] {
  return quoted(markdown).filter((words) => /^[A-Z]+(_[A-Z]+)+$/.test(words));
}

/** The numbers of the promises. */
function promisesIn(markdown: string): string[] {
  const [, promised = ''] = markdown.split(/^## What is promised$/m);
  return Array.from((promised.split(/^## /m)[0] ?? '').matchAll(/^- \*\*(\w+)\*\* ./gm), ([, number = '']) => number);
}

/** The rows of promises.md: the number of a promise, and the files and commands that keep and show it. */
function rowsIn(markdown: string): [promise: string, shown: string][] {
  return Array.from(markdown.matchAll(/^\| ([A-Z]\d+) \|(.*)$/gm), ([, number = '', shown = '']) => [number, shown]);
}

const isTest = (words: string) => words.endsWith('.test.ts') || faultOf(words) === undefined;
const shownBy = (shown: string) => quoted(shown).filter((words) => /\.test\.ts$|^npm run /.test(words));

test('every file that SECURITY.md, not-promised.md, promises.md, public-writes.md and pci-dss.md name exists', () => {
  const paths = pathsIn(text);
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test('every command that they name can be run', () => {
  expect(commandsIn(text).length).toBeGreaterThan(10);
  expect(commandsIn(text).flatMap((command) => faultOf(command) ?? [])).toEqual([]);
});

test('every setting that they name is one', () => {
  const known = new Set(Object.values(schemas).flatMap(({ properties }) => Object.keys(properties)));
  expect(settingsIn(text).length).toBeGreaterThan(10);
  expect(settingsIn(text).filter((name) => !known.has(name))).toEqual([]);
});

test('every promise has one row of files and of what shows it, and no row is of another', () => {
  const promises = promisesIn(threats);
  expect(promises.length).toBeGreaterThan(100);
  expect(
    threats
      .split(/^## What is promised$/m)[1]
      ?.split(/^## /m)[0]
      ?.match(/^- /gm)?.length,
  ).toBe(promises.length);
  const rows = rowsIn(evidence);
  expect(rows.map(([number]) => number).toSorted()).toEqual(promises.toSorted());
  expect(new Set(promises).size).toBe(promises.length);
  for (const [promise, shown] of rows) {
    expect([promise, pathsIn(shown).length]).not.toEqual([promise, 0]);
    expect([promise, shownBy(shown).filter(isTest).length]).not.toEqual([promise, 0]);
  }
});

test('what is named wrongly is noticed', () => {
  const wrong = '`infra/no-such-file.ts` [x](gone.md) `npm run gone` `npm run test:faults -- gone` `NO_SETTING`';
  expect(pathsIn(wrong)).toEqual([resolve(root, 'infra/no-such-file.ts'), resolve(root, 'infra/gone.md')]);
  expect(pathsIn(wrong).some(existsSync)).toBe(false);
  expect(commandsIn(wrong).map(faultOf)).toEqual([
    'npm run gone: there is no script gone',
    'npm run test:faults -- gone: there is no fault test gone',
  ]);
  expect(settingsIn(wrong)).toEqual(['NO_SETTING']);
  expect(promisesIn('## What is promised\n\n- **A1** a\n- without a number\n## E\n- **B1** b\n')).toEqual(['A1']);
  const [[promise, shown] = ['', '']] = rowsIn('| Promise | Code | Tests |\n|---|---|---|\n| A1 | `b` |  |\n');
  expect([promise, quoted(shown), shownBy(shown)]).toEqual(['A1', ['b'], []]);
});
