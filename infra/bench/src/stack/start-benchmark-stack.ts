import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Stack, startStack } from '@sluice/local';
import type { BenchmarkContext } from '../benchmark.ts';

type ServiceName = 'proxy-gateway' | 'management-api' | 'token-vault' | 'worker';

export interface BenchmarkStack extends Stack {
  /** Of the measured service. */
  pid: number;
  /** What its commands and further services are started with, secrets included. */
  environment: Record<string, string>;
}

/** Starts all services, and moves the measured one to its core; they end with `opened`. */
export async function startBenchmarkStack(
  measured: ServiceName,
  context: BenchmarkContext,
  opened: AsyncDisposableStack,
  settings: Record<string, string> = {},
): Promise<BenchmarkStack> {
  const { cores, log, signal, profileDirectory } = context;
  const directory = join(context.directory, 'stack');
  const environment: Record<string, string> = {
    ...settings,
    ...(profileDirectory && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir="${profileDirectory}"` }),
  };
  const stack = await startStack({ directory, port: 0, environment, log, signal });
  opened.defer(() => stack.close());
  void stack.died.then(log);
  const pid = pidOf(stack, measured);
  if (profileDirectory) log(`${measured} is process ${pid}`);
  await cores.moveToTestedCore(pid);
  const text = await readFile(join(directory, 'environment'), 'utf8');
  return { ...stack, pid, environment: parseEnv(text) as Record<string, string> };
}

export function pidOf({ processes }: Stack, name: ServiceName | 'postgres' | 'redis'): number {
  const pid = processes.get(name)?.pid;
  if (pid === undefined) throw new Error(`${name} does not run`);
  return pid;
}
