import { join } from 'node:path';
import { type Stack, startStack } from '@sluice/local';
import type { BenchmarkContext } from './benchmark.ts';

export interface BenchmarkStackContext extends BenchmarkContext {
  /** Settings of the services besides those of every stack. */
  environment?: Record<string, string>;
}

/** Starts all services, and moves the measured one to its core; they end with `opened`. */
export async function startBenchmarkStack(
  measured: 'proxy-gateway' | 'management-api' | 'token-vault',
  context: BenchmarkStackContext,
  opened: AsyncDisposableStack,
): Promise<Stack> {
  const { directory, cores, log, signal, profileDirectory } = context;
  const environment: Record<string, string> = {
    ...context.environment,
    ...(profileDirectory && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir="${profileDirectory}"` }),
  };
  const stackOptions = { directory: join(directory, 'stack'), port: 0, environment, log, signal };
  const stack = opened.adopt(await startStack(stackOptions), (started) => started.close());
  void stack.died.then(log);
  const pid = stack.processes.get(measured)?.pid;
  if (profileDirectory) log(`${measured} is process ${pid}`);
  await cores.moveToTestedCore(pid);
  return stack;
}
