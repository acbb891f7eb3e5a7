import { type FileHandle, open } from 'node:fs/promises';
import { toWitnessEntry } from '@sluice/ledger';

/** Keeps checkpoints where the owner of the database cannot change them. */
export interface Witness {
  /** @throws {Error} if the witness refused the signed note or did not answer in time. */
  take(note: string): Promise<void>;
}

const timeoutMs = 10_000;
const blankLine = '\n\n';

/** Only a 2xx counts as accepted; redirects are not followed. */
export function urlWitness(url: string): Witness {
  return {
    async take(note) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain; charset=utf-8' },
        body: note,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`The witness answered ${response.status || 'with a redirect'}`);
    },
  };
}

/** Creates the file if needed. Resolves once the note is on disk. */
export function fileWitness(path: string): Witness {
  return {
    async take(note) {
      const file = await open(path, 'a+', 0o644);
      try {
        await file.appendFile(`${await gapAfter(file)}${toWitnessEntry(note)}`);
        await file.datasync();
      } finally {
        await file.close();
      }
    },
  };
}

/** Separates the next note from an incomplete one, which a stopped writer may have left. */
async function gapAfter(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const { buffer } = await file.read({ buffer: Buffer.alloc(2), position: Math.max(0, size - 2) });
  return size === 0 || buffer.toString() === blankLine ? '' : blankLine;
}
