import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { codeOf, UsageError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** The text itself, a file (`@file`), or standard input (`-`). */
export async function readData(data: string, { stdin, signal }: Terminal): Promise<string> {
  if (data === '-') return text(addAbortSignal(signal, stdin));
  return data.startsWith('@') ? readTextFile(data.slice(1)) : data;
}

/** @throws {UsageError} that names the file. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${codeOf(error)})`);
  }
}

/** @throws {UsageError} that says where the fault is, without quoting the text, which may hold a value. */
export function parseJson(source: string, what: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const position =
      error instanceof Error ? /at position \d+|line \d+ column \d+/.exec(error.message)?.[0] : undefined;
    throw new UsageError(`${what} is not valid JSON${position ? ` (${position})` : ''}`);
  }
}
