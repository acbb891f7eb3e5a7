import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What was typed is wrong; the message says how. */
export class UsageError extends Error {}

/** `parseArgs` of node:util. @throws {UsageError} for an unknown option, a missing value, or an extra argument. */
export function readOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Where arguments are allowed, Node adds advice about arguments that begin with "-"; its quotes do not balance.
    throw new UsageError(message.split('. To specify a positional argument')[0], { cause: error });
  }
}

/** Runs a command. A wrong command line is one line that points to `help`, and the process leaves with 2. */
export async function runCommand(help: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}; see ${help}`);
    process.exitCode = 2;
  }
}
