import { readFile, writeFile } from 'node:fs/promises';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import { committedFiles } from './committed.ts';
import { settingFaults } from './faults.ts';
import { schemas } from './schemas.ts';

const help = `Usage: npm run config [-- --check]

Writes the reference of all settings and the list of their names, made of the configuration schemas of the services:
${committedFiles.map(({ url }) => url.pathname).join('\n')}
Commit them; npm test says when they are stale.

  --check   writes nothing; leaves with 1 when a file is stale, or when a setting has no description or no unit
  --help    prints this text`;

await runCommand('npm run config -- --help', async () => {
  const { values } = readOptions({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) return console.log(help);
  const faults = settingFaults(schemas);
  for (const { url, text } of values.check ? committedFiles : []) {
    if ((await readFile(url, 'utf8')) === text) continue;
    faults.push(`${url.pathname} is stale: run "npm run config" and commit it`);
  }
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else if (values.check) console.log('Current');
  else {
    for (const { url, text } of committedFiles) {
      await writeFile(url, text);
      console.log(`Written: ${url.pathname}`);
    }
  }
});
