import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Cores {
  /** What runs on which core, in words. */
  description: string;
  /** Moves a measured process to the core reserved for it. */
  moveToTestedCore(pid: number): Promise<void>;
  /** Lets its other threads use both cores; the main thread stays on its own. */
  spreadThreads(pid: number): Promise<void>;
  /** A command prefix that allows the whole machine. */
  readonly onAllCores: readonly string[];
}

/**
 * Moves this process, and everything it starts later, to core 1; measured processes are then moved to core 0. Where
 * pinning is not possible, the system decides.
 */
export async function shareCores(): Promise<Cores> {
  try {
    for (const core of [0, 1]) await moveTo(core, process.pid); // fails where one of them may not be used
    return {
      description: 'core 0: what is measured; core 1: load generator, destination, Postgres, Redis, the other services',
      moveToTestedCore: (pid) => moveTo(0, pid),
      async spreadThreads(pid) {
        await execute('taskset', ['--all-tasks', '--cpu-list', '--pid', '0,1', String(pid)]);
        await execute('taskset', ['--cpu-list', '--pid', '0', String(pid)]);
      },
      onAllCores: ['taskset', '--cpu-list', `0-${cpus().length - 1}`],
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error);
    return {
      description: `not pinned (${reason})`,
      moveToTestedCore: async () => undefined,
      spreadThreads: async () => undefined,
      onAllCores: [],
    };
  }
}

/** Moves all threads of a process. */
async function moveTo(core: number, pid: number): Promise<void> {
  await execute('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
}
