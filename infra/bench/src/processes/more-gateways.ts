import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { freePort, nodeOptions } from '@sluice/local';
import type { BenchmarkContext } from '../benchmark.ts';
import { type OwnedProcess, startOwned } from './owned-process.ts';

const program = join(import.meta.dirname, '../../../../services/proxy-gateway/src/main.ts');

export interface Gateway {
  url: string;
  pid: number;
}

/** Starts another gateway on the stores of the stack; resolves when it is ready. */
export async function startGateway(context: BenchmarkContext, opened: AsyncDisposableStack): Promise<Gateway> {
  const { directory, signal } = context;
  const [port, adminPort] = [await freePort(), await freePort()];
  const secrets = parseEnv(await readFile(join(directory, 'stack', 'environment'), 'utf8')) as Record<string, string>;
  const env = {
    ...secrets,
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    STOP_WHEN_STDIN_CLOSES: 'true',
    DESTINATION_SCHEMES: 'http',
    DESTINATION_ALLOW: 'loopback',
  };
  const logFile = join(directory, `gateway-${port}.log`);
  const gateway: OwnedProcess = opened.use(
    await startOwned({ command: process.execPath, args: [...nodeOptions, program], env, logFile }),
  );
  while (!(await isReady(adminPort))) {
    signal.throwIfAborted();
    if (gateway.child.exitCode !== null) throw new Error(`A gateway ended; see ${logFile}`);
    await delay(50);
  }
  return { url: `http://127.0.0.1:${port}`, pid: gateway.pid ?? 0 };
}

async function isReady(adminPort: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
    ({ ok }) => ok,
    () => false, // it does not listen yet
  );
}
