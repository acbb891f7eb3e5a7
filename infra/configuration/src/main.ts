import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { committedFiles } from './committed.ts';
import { settingFaults } from './faults.ts';
import { schemas } from './schemas.ts';

const help = `Usage: npm run config [-- --check]

Writes the reference of all settings and the list of their names, made of the configuration schemas of the services:
${committedFiles.map(({ url }) => url.pathname).join('\n')}
Commit them; npm test says when they are stale.

  --check   writes nothing; leaves with 1 when a file is stale, or when a setting has no description or no unit
  --help    prints this text`;

process.exitCode = await run();

/** Undefined if the arguments are not understood; the error has then been printed. */
function readOptions() {
  try {
    return parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}; see npm run config -- --help`);
    return undefined;
  }
}

async function run(): Promise<number> {
  const values = readOptions();
  if (!values) return 2;
  if (values.help) {
    console.log(help);
    return 0;
  }
  const faults = settingFaults(schemas);
  for (const { url, text } of values.check ? committedFiles : []) {
    if ((await readFile(url, 'utf8')) === text) continue;
    faults.push(`${url.pathname} is stale: run "npm run config" and commit it`);
  }
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) return 1;
  if (values.check) {
    console.log('Current');
    return 0;
  }
  for (const { url, text } of committedFiles) {
    await writeFile(url, text);
    console.log(`Written: ${url.pathname}`);
  }
  return 0;
}
