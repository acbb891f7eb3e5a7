import { resolve } from 'node:path';
import { help, launch } from './launcher.ts';
import { defaultDirectory } from './repository.ts';

const { env, argv, stdout } = process;

if (argv.includes('--help') || argv.includes('-h')) {
  console.log(help);
} else {
  const { PORT, SLUICE_DIR, REDIS_URL, HEADER_PREFIX, LOG_LEVEL, PATH = '' } = env;
  process.exitCode = await launch({
    directory: SLUICE_DIR ? resolve(SLUICE_DIR) : defaultDirectory,
    port: PORT || '8080',
    redisUrl: REDIS_URL || undefined,
    environment: { PATH, ...(HEADER_PREFIX && { HEADER_PREFIX }), ...(LOG_LEVEL && { LOG_LEVEL }) },
    colour: Boolean(stdout.isTTY) && !env.NO_COLOR,
    byNpm: env.npm_lifecycle_event !== undefined,
  });
}
