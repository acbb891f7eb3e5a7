import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { committedFiles } from './dashboards/committed.ts';

const command = 'npx node infra/monitoring/src/main.ts';
const help = `Usage: ${command} [--check]

Writes the dashboards in infra/monitoring/grafana/dashboards, made of infra/monitoring/src/dashboards. Commit them;
npm run test:system says when they are stale.

  --check   writes nothing; leaves with 1 when a file is stale
  --help    prints this text`;

process.exitCode = await run();

/** Undefined if the arguments are not understood; the error has then been printed. */
function readOptions() {
  try {
    return parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}; see ${command} --help`);
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
  let stale = 0;
  for (const { file, text } of committedFiles) {
    if (!values.check) await writeFile(file, text);
    else if ((await readFile(file, 'utf8')) !== text) {
      stale += 1;
      console.error(`${file.pathname} is stale: run "${command}" and commit it`);
    }
  }
  if (!values.check) console.log(`Written: ${committedFiles.map(({ file }) => file.pathname).join(', ')}`);
  return stale > 0 ? 1 : 0;
}
