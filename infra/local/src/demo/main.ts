import { resolve } from 'node:path';
import { readOptions, runCommand, UsageError } from '@sluice/service-runtime/command-line';
import { defaultDirectory } from '../repository.ts';
import { demo, demoShop, help } from './demo.ts';

const { env, stdout } = process;

await runCommand('npm run demo -- --help', async () => {
  const { values, positionals } = readOptions({
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  const [scene, ...more] = positionals;
  if (more.length > 0 || (scene !== undefined && scene !== 'shop'))
    throw new UsageError(`There is no demo ${positionals.join(' ')}`);
  if (values.help) {
    console.log(help);
  } else {
    process.exitCode = await (scene === 'shop' ? demoShop : demo)({
      directory: env.SLUICE_DIR ? resolve(env.SLUICE_DIR) : defaultDirectory,
      headerPrefix: env.HEADER_PREFIX || 'SVC',
      path: env.PATH ?? '',
      colour: Boolean(stdout.isTTY) && !env.NO_COLOR,
      width: stdout.isTTY ? stdout.columns : 132,
    });
  }
});
