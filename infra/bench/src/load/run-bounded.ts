import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

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
