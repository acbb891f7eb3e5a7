import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, nodeOptions } from '@sluice/local';
import { eventually } from '@sluice/testing';
import type { BenchmarkContext } from '../benchmark.ts';
import { startOwned } from '../processes/owned-process.ts';
import { type BenchmarkStack, pidOf } from './start-benchmark-stack.ts';

const ownCheckout = join(import.meta.dirname, '../../../..');

export const gatewayProgram = (checkout: string) => join(checkout, 'services/proxy-gateway/src/main.ts');

export interface Gateway {
  url: string;
  pid: number;
}

/**
 * Starts another gateway, of this or another checkout, with the settings of that of the stack. It ends with `opened`.
 * Resolves when it is ready.
 */
export async function startGateway(
  { directory, signal }: BenchmarkContext,
  stack: BenchmarkStack,
  opened: AsyncDisposableStack,
  checkout = ownCheckout,
): Promise<Gateway> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const env = {
    ...(await environmentOf(pidOf(stack, 'proxy-gateway'))),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    DISCLOSURE_SPOOL_DIRECTORY: join(directory, `spool-${port}`),
  };
  const logFile = join(directory, `gateway-${port}.log`);
  const args = [...nodeOptions, gatewayProgram(checkout)];
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

async function environmentOf(pid: number): Promise<Record<string, string>> {
  const entries = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter((entry) => entry.includes('='));
  return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s, 2) as [string, string]));
}
