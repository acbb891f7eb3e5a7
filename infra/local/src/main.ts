import { join, resolve } from 'node:path';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import { help, launch } from './launcher.ts';
import { defaultDirectory } from './repository.ts';

const { env, stdout } = process;

await runCommand('npm start -- --help', async () => {
  const { values } = readOptions({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(help);
  } else {
    const { PORT, SLUICE_DIR, REDIS_URL, PATH = '' } = env;
    const directory = SLUICE_DIR ? resolve(SLUICE_DIR) : defaultDirectory;
    // Caching the compiled sources halves the time of the next start; commands read it from this environment.
    const { NODE_COMPILE_CACHE = join(directory, 'compile-cache') } = env;
    env.NODE_COMPILE_CACHE = NODE_COMPILE_CACHE;
    process.exitCode = await launch({
      directory,
      port: PORT || '8080',
      redisUrl: REDIS_URL || undefined,
      environment: { PATH, NODE_COMPILE_CACHE },
      env,
      colour: Boolean(stdout.isTTY) && !env.NO_COLOR,
      byNpm: env.npm_lifecycle_event !== undefined,
    });
  }
});
