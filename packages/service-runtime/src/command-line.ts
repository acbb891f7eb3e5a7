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

export interface Help {
  name: 'help';
}

interface Program<C> {
  help: string;
  readArguments: (args: string[]) => C | Help;
  /** Does what the arguments ask for. It imports most of the program, which takes half a second of processor time. */
  perform: (command: C) => Promise<number>;
}

/**
 * Runs a program whose arguments are read before most of it is imported, so that help and mistakes are answered at once.
 * @returns the exit code: 2 for a wrong command line, the `exitCode` of an error that has one, and 1 for any other.
 */
export async function runProgram<C extends { name: string }>(
  args: string[],
  { help, readArguments, perform }: Program<C>,
): Promise<number> {
  try {
    const command = readArguments(args);
    if (!isHelp(command)) return await perform(command);
    console.log(help);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(error instanceof UsageError ? `${message}\n\n${help}` : message);
    return exitCodeOf(error);
  }
}

function isHelp(command: { name: string }): command is Help {
  return command.name === 'help';
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1;
}

/** Ctrl-C arrives twice if npm runs the command, because the terminal sends it to npm too, which passes it on. */
export const sameKeyPressMs = 500;

/** Calls `act` at the first of the signals; a later one ends the process at once. */
export function onFirstSignal<T extends NodeJS.Signals>(names: readonly T[], act: (name: T) => void): void {
  let isFirst = true;
  const listener = (name: NodeJS.Signals) => {
    if (!isFirst) return;
    isFirst = false;
    act(name as T);
    const stopListening = () => names.forEach((one) => void process.off(one, listener));
    setTimeout(stopListening, sameKeyPressMs).unref();
  };
  for (const name of names) process.on(name, listener);
}
