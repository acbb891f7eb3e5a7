import { resolve } from 'node:path';
import { defaultDirectory } from '../repository.ts';
import { demo, help } from './demo.ts';

const { argv, env, stdout } = process;

if (argv.includes('--help') || argv.includes('-h')) {
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
