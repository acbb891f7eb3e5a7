import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Busy connections, each with one request at a time. */
export const connections = 32;

/** A request that is repeated: a POST, or a GET where there is no body. */
export interface LoadRequest {
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** A header that has another value in each request. */
  uniqueHeader?: string;
}

export interface LoadFigures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests that failed, timed out, or were answered with an error. */
  errors: number;
}

export interface LoadGenerator {
  name: string;
  /** @throws when it cannot run, or the signal is aborted. */
  run(request: LoadRequest, seconds: number, signal: AbortSignal): Promise<LoadFigures>;
}

const execute = promisify(execFile);

/**
 * Runs a load generator, which must end soon after `seconds`.
 * @returns its output.
 * @throws if it wrote to standard error, because wrk continues without a script that it cannot read.
 */
export async function runBounded(
  command: string,
  args: string[],
  { env = {}, seconds, signal }: { env?: Record<string, string>; seconds: number; signal: AbortSignal },
): Promise<string> {
  const { stdout, stderr } = await execute(command, args, { env, signal, timeout: seconds * 1000 + 15_000 });
  if (stderr.trim() !== '') throw new Error(`${command}: ${stderr.trim()}`);
  return stdout;
}
