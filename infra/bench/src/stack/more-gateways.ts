import { join } from 'node:path';
import { freePort, nodeOptions } from '@sluice/local';
import { eventually } from '@sluice/testing';
import type { BenchmarkContext } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';
import type { BenchmarkStack } from './start-benchmark-stack.ts';

const program = join(import.meta.dirname, '../../../../services/proxy-gateway/src/main.ts');

export interface Gateway {
  url: string;
  pid: number;
}

/** Starts another gateway on the stores of the stack; resolves when it is ready. */
export async function startGateway(
  { directory, signal }: BenchmarkContext,
  { environment }: BenchmarkStack,
  opened: AsyncDisposableStack,
): Promise<Gateway> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const env = {
    ...environment,
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    STOP_WHEN_STDIN_CLOSES: 'true',
    DESTINATION_SCHEMES: 'http',
    DESTINATION_ALLOW: 'loopback',
  };
  const logFile = join(directory, `gateway-${port}.log`);
  const args = [...nodeOptions, program];
  const gateway = opened.use(await startOwned({ command: process.execPath, args, env, logFile, signal }));
  await eventually(`a gateway is ready; see ${logFile}`, () => {
    signal.throwIfAborted();
    if (gateway.child.exitCode !== null) throw new Error(`A gateway ended; see ${logFile}`);
    return fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
      ({ ok }) => ok,
      () => false, // it does not listen yet
    );
  });
  return { url: `http://127.0.0.1:${port}`, pid: gateway.pid };
}
