import { resolve } from 'node:path';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import { defaultDirectory } from '../repository.ts';
import { demo, help } from './demo.ts';

const { env, stdout } = process;

await runCommand('npm run demo -- --help', async () => {
  const { values } = readOptions({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(help);
  } else {
    process.exitCode = await demo({
      directory: env.SLUICE_DIR ? resolve(env.SLUICE_DIR) : defaultDirectory,
      headerPrefix: env.HEADER_PREFIX || 'SVC',
      path: env.PATH ?? '',
      colour: Boolean(stdout.isTTY) && !env.NO_COLOR,
      width: stdout.isTTY ? stdout.columns : 132,
    });
  }
});
