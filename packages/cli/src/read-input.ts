import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { codeOf, UsageError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** The text itself; the bytes of a file (`@file`) or of standard input (`-`). */
export async function readData(data: string, { stdin, signal }: Terminal): Promise<string | Buffer<ArrayBuffer>> {
  if (data === '-') return Buffer.from(await buffer(addAbortSignal(signal, stdin)));
  return data.startsWith('@') ? readBytes(data.slice(1)) : data;
}

/** @throws {UsageError} that names the file. */
export async function readTextFile(path: string): Promise<string> {
  return toText(await readBytes(path), path);
}

async function readBytes(path: string): Promise<Buffer<ArrayBuffer>> {
  try {
    return Buffer.from(await readFile(path));
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${codeOf(error)})`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Without a byte order mark. @throws {UsageError} for another charset, which would be stored with other characters. */
export function toText(data: string | Uint8Array, what: string): string {
  if (typeof data === 'string') return data;
  try {
    return utf8.decode(data);
  } catch {
    throw new UsageError(`${what} is not UTF-8; convert it first`);
  }
}

/** @throws {UsageError} with the position of the fault, without quoting the text, which may contain a value. */
export function parseJson(source: string, what: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const position =
      error instanceof Error ? /at position \d+|line \d+ column \d+/.exec(error.message)?.[0] : undefined;
    throw new UsageError(`${what} is not valid JSON${position ? ` (${position})` : ''}`);
  }
}
