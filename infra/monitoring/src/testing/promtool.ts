import { spawnSync } from 'node:child_process';
import { findProgram } from '@sluice/local';

export interface PromtoolResult {
  status: number | null;
  output: string;
}

/** Prometheus' own checks, of this machine or of Debian's package, which is unpacked under `.sluice`. */
export async function promtool(args: readonly string[], input = ''): Promise<PromtoolResult> {
  const { command, env } = await findProgram('promtool', { path: process.env.PATH ?? '', packages: ['prometheus'] });
  const { status, stdout, stderr, error } = spawnSync(command, args, { env, input, encoding: 'utf8' });
  if (error) throw error;
  return { status, output: stdout + stderr };
}
