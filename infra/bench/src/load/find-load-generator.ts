import type { BenchmarkContext } from '../benchmark.ts';
import { autocannon } from './autocannon.ts';
import type { LoadGenerator } from './load-generator.ts';
import { wrk } from './wrk.ts';

/** wrk, or autocannon where there is none. */
export async function findLoadGenerator({ programs, directory }: BenchmarkContext): Promise<LoadGenerator> {
  const program = await programs.find('wrk', ['wrk']);
  return program ? wrk(program, directory) : autocannon;
}
