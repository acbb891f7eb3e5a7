import { join } from 'node:path';
import { type Stack, startStack } from '@sluice/local';
import type { BenchmarkContext } from './benchmark.ts';

/** Starts all services, with the one that is to be measured on the core for it; they end with `opened`. */
export async function startBenchmarkStack(
  measured: 'proxy-gateway' | 'management-api' | 'token-vault',
  { directory, cores, log, signal, profileDirectory }: BenchmarkContext,
  opened: AsyncDisposableStack,
): Promise<Stack> {
  const environment: Record<string, string> = profileDirectory
    ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir="${profileDirectory}"` }
    : {};
  const stackOptions = { directory: join(directory, 'stack'), port: 0, environment, log, signal };
  const stack = opened.adopt(await startStack(stackOptions), (started) => started.close());
  void stack.died.then(log);
  const pid = stack.processes.get(measured)?.pid;
  if (profileDirectory) log(`${measured} is process ${pid}`);
  await cores.moveToTestedCore(pid);
  return stack;
}
