import { readFile, writeFile } from 'node:fs/promises';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import { committedFiles } from './dashboards/committed.ts';

const command = 'npx node infra/monitoring/src/main.ts';
const help = `Usage: ${command} [--check]

Writes the dashboards in infra/monitoring/grafana/dashboards, made of infra/monitoring/src/dashboards. Commit them;
npm run test:system says when they are stale.

  --check   writes nothing; leaves with 1 when a file is stale
  --help    prints this text`;

await runCommand(`${command} --help`, async () => {
  const { values } = readOptions({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) return console.log(help);
  for (const { file, text } of committedFiles) {
    if (!values.check) await writeFile(file, text);
    else if ((await readFile(file, 'utf8')) !== text) {
      process.exitCode = 1;
      console.error(`${file.pathname} is stale: run "${command}" and commit it`);
    }
  }
  if (!values.check) console.log(`Written: ${committedFiles.map(({ file }) => file.pathname).join(', ')}`);
});
