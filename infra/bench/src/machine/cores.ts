import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Cores {
  /** Who runs where, in words. */
  description: string;
  /** Gives a process that is to be measured the core that nothing else runs on. */
  moveToTestedCore(pid: number | undefined): Promise<void>;
  /**
   * Gives a second process that is to be measured a core of its own, if there are three.
   * @returns where it runs, in words.
   */
  moveToSecondTestedCore(pid: number | undefined): Promise<string>;
  /** Lets its threads use both cores; the main thread stays on the one that it was given. */
  spreadThreads(pid: number | undefined): Promise<void>;
  /** What to put before a command that is to have the whole machine. */
  readonly onAllCores: readonly string[];
}

/**
 * Moves this process to core 1, and with it everything that it starts from now on; what is measured is moved to core 0
 * by itself. Where that cannot be done everything runs where the system puts it.
 */
export async function shareCores(): Promise<Cores> {
  try {
    for (const core of [0, 1]) await moveTo(core, process.pid); // fails where one of them is not ours to use
    return {
      description: 'core 0: what is measured; core 1: load generator, destination, Postgres, Redis, the other services',
      async moveToTestedCore(pid) {
        if (pid !== undefined) await moveTo(0, pid);
      },
      async moveToSecondTestedCore(pid) {
        const isAlone =
          pid !== undefined &&
          (await moveTo(2, pid).then(
            () => true,
            () => false, // there is none
          ));
        return isAlone ? 'core 2' : 'core 1, which it shares with the load generator, the destination and the stores';
      },
      async spreadThreads(pid) {
        if (pid === undefined) return;
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
      moveToSecondTestedCore: async () => 'no core of its own',
      spreadThreads: async () => undefined,
      onAllCores: [],
    };
  }
}

/** With all threads that it has. */
async function moveTo(core: number, pid: number): Promise<void> {
  await execute('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
}
