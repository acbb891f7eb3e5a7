import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { repositoryRoot } from '@sluice/local/parts';
import { type Block, missingIn } from './read-blocks.ts';

export interface RunOptions {
  /** For the output of each block; of this run's own. */
  directory: string;
  env: Record<string, string>;
  /** Run before the first block, for example functions that stand for what only the operator has. */
  prelude?: string;
  timeoutMs: number;
  /** Where; the repository by default. */
  cwd?: string;
}

/**
 * Runs the blocks in one bash until one fails. What they leave running is ended.
 * @returns what went wrong, in words: none where each block ended well and printed what it says.
 */
export async function runBlocks(blocks: Block[], options: RunOptions): Promise<string[]> {
  const { directory, env, prelude = '', timeoutMs, cwd = repositoryRoot } = options;
  const file = (index: number, kind: string) => join(directory, `block-${index}.${kind}`);
  const steps = await Promise.all(
    blocks.map(async ({ script }, index) => {
      await writeFile(file(index, 'sh'), `${script}\n`);
      return `source '${file(index, 'sh')}' > '${file(index, 'out')}' 2>&1 < /dev/null; touch '${file(index, 'done')}'`;
    }),
  );
  const main = join(directory, 'main.sh');
  await writeFile(main, ['set -eo pipefail', prelude, ...steps, ''].join('\n'));
  // A group of its own, so that what was started in the background can be ended with it.
  const child = spawn('bash', [main], { cwd, env, detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const isInTime = await Promise.race([ended.then(() => true), wait(timeoutMs, false, { ref: false })]);
  await endGroup(child.pid);
  await ended;

  const faults: string[] = [];
  for (const [index, { line, expected }] of blocks.entries()) {
    const output = existsSync(file(index, 'out')) ? await readFile(file(index, 'out'), 'utf8') : '';
    if (!existsSync(file(index, 'done'))) {
      const how = isInTime ? `failed (${child.signalCode ?? child.exitCode})` : 'did not end in time';
      return [...faults, `the block of line ${line} ${how}:\n${output}`];
    }
    const missing = missingIn(output, expected);
    if (missing.length > 0) faults.push(`the block of line ${line} did not print ${missing.join(' | ')}:\n${output}`);
  }
  return faults;
}

const endsWithinMs = 20_000;

/** Asks the processes of the group to end, and kills what has not. */
async function endGroup(group: number | undefined): Promise<void> {
  if (group === undefined) return;
  const deadline = performance.now() + endsWithinMs;
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; isSent(group, signal); signal = 0) {
    if (performance.now() > deadline && !isSent(group, 'SIGKILL')) return;
    await wait(50);
  }
}

function isSent(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
