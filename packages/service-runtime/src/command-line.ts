import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What was typed is wrong; the message says how. */
export class UsageError extends Error {}

/** `parseArgs` of node:util. @throws {UsageError} for an unknown option, a missing value, or an extra argument. */
export function readOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
