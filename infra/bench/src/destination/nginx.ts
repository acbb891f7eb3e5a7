import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@sluice/testing';
import type { BenchmarkContext } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';

export interface NginxOptions {
  /** Name of its folder. */
  name: string;
  port: number;
  /** Its blocks `server`, `upstream` and so on. */
  http: string;
}

/** A single process that keeps its connections open. */
const configuration = (folder: string, http: string) => `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  default_type application/json;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
${http}
}
`;

/** Starts nginx; resolves with its pid when it listens. Undefined where there is none. */
export async function startNginx(
  { directory, find, signal }: BenchmarkContext,
  { name, port, http }: NginxOptions,
  opened: AsyncDisposableStack,
): Promise<number | undefined> {
  const program = await find('nginx', ['nginx-light']);
  if (!program) return undefined;
  const folder = join(directory, name);
  await mkdir(folder, { recursive: true });
  const [file, logFile] = [join(folder, 'nginx.conf'), join(folder, 'output.log')];
  await writeFile(file, configuration(folder, http));
  opened.use(await startOwned({ ...program, args: ['-p', folder, '-c', file], logFile, signal, isForeign: true }));
  await eventually(`nginx listens; see ${logFile}`, async () => {
    const socket = connect(port, '127.0.0.1');
    return once(socket, 'connect', { signal })
      .then(
        () => true,
        () => signal.throwIfAborted() ?? false,
      )
      .finally(() => socket.destroy());
  });
  // The pid of the process is its guard's. nginx writes its own after it began to listen
  const pidFile = join(folder, 'nginx.pid');
  await eventually(`nginx writes ${pidFile}`, () => (statSync(pidFile, { throwIfNoEntry: false })?.size ?? 0) > 0);
  return Number(await readFile(pidFile, 'utf8'));
}
