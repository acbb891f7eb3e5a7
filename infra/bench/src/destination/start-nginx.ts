import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarkContext } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';
import { untilListening } from '../processes/until-listening.ts';
import { nginxConfiguration } from './nginx-configuration.ts';

export interface NginxOptions {
  /** Name of its folder. */
  name: string;
  port: number;
  /** See `nginxConfiguration`. */
  http: string;
}

export interface Nginx extends AsyncDisposable {
  pid: number;
}

/** Starts nginx; resolves when it listens. Undefined where there is none. */
export async function startNginx(
  { directory, programs, signal }: BenchmarkContext,
  { name, port, http }: NginxOptions,
): Promise<Nginx | undefined> {
  const program = await programs.find('nginx', ['nginx-light']);
  if (!program) return undefined;
  const folder = join(directory, name);
  await mkdir(folder, { recursive: true });
  const [configuration, logFile] = [join(folder, 'nginx.conf'), join(folder, 'output.log')];
  await writeFile(configuration, nginxConfiguration({ folder, http }));
  const { command, env } = program;
  const started = await startOwned({
    command,
    args: ['-p', folder, '-c', configuration],
    env,
    logFile,
    isForeign: true,
  });
  await untilListening(started, { port, logFile, signal });
  const pid = Number(await readFile(join(folder, 'nginx.pid'), 'utf8')); // the pid of `started` is its guard's
  return { pid, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}
