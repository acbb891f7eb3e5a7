import { readFile } from 'node:fs/promises';

/** The list that an earlier run left in a file of JSON; empty where none did. */
export async function readKept<T>(file: string): Promise<T[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
