import { resolve } from 'node:path';
import { readOptions, runCommand, UsageError } from '@sluice/service-runtime/command-line';
import { defaultDirectory } from '../repository.ts';
import { demo, demoAgent, demoShop, help } from './demo.ts';

const { env, stdout } = process;

const scenes = new Map([
  ['agent', demoAgent],
  ['shop', demoShop],
]);

await runCommand('npm run demo -- --help', async () => {
  const { values, positionals } = readOptions({
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  const [scene, ...more] = positionals;
  const play = scene === undefined ? demo : scenes.get(scene);
  if (more.length > 0 || !play) throw new UsageError(`There is no demo ${positionals.join(' ')}`);
  if (values.help) {
    console.log(help);
  } else {
    process.exitCode = await play({
      directory: env.SLUICE_DIR ? resolve(env.SLUICE_DIR) : defaultDirectory,
      headerPrefix: env.HEADER_PREFIX || 'SVC',
      path: env.PATH ?? '',
      colour: Boolean(stdout.isTTY) && !env.NO_COLOR,
      width: stdout.isTTY ? stdout.columns : 132,
    });
  }
});
