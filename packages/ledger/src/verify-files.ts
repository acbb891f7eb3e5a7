import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { verifyCheckpoint } from './checkpoint.ts';
import { readKeyFile } from './key-file.ts';
import { type Verdict, verifyExport } from './verify-export.ts';
import { verifyRows } from './verify-rows.ts';
import { readWitnessFile } from './witness-file.ts';

/** File names; `-` as the export is standard input. */
export interface VerifyFiles {
  export: string;
  key: string;
  checkpoint?: string | undefined;
  since?: readonly string[] | undefined;
  witness?: string | undefined;
  /** How many rows retention is known to have dropped, where the newest checkpoint does not say it. */
  dropped?: number | undefined;
  /** In place of a checkpoint, for an export that is not whole. */
  proofs?: string | undefined;
}

export interface Finding {
  isGood: boolean;
  text: string;
}

/**
 * Needs no database and no secret. The signal ends the reading.
 * @throws {Error} naming an unreadable file or an unsigned checkpoint.
 */
export async function verifyFiles(files: VerifyFiles, signal?: AbortSignal): Promise<Finding> {
  const { isGood, text } = await judge(files, signal);
  return { isGood, text: text.replace(/\p{C}/gu, '\uFFFD') }; // hides control characters
}

async function judge(files: VerifyFiles, signal: AbortSignal | undefined): Promise<Finding> {
  const linesOf = (file: string) => readLines(file, signal);
  const verifiers = readKeyFile(await readText(files.key));
  if (files.proofs !== undefined) {
    const verdict = await verifyRows(linesOf(files.export), linesOf(files.proofs), verifiers);
    return verdict.isProven
      ? {
          isGood: true,
          text: `${unchangedText(verdict.rows)}. Whether the export lacks rows was not checked`,
        }
      : { isGood: false, text: verdict.reason };
  }
  const openFile = async (file: string) => verifyCheckpoint(await readText(file), verifiers);
  const checkpoint = await openFile(files.checkpoint ?? '');
  const since = await Promise.all((files.since ?? []).map(openFile));
  const strange = since.find(({ origin }) => origin !== checkpoint.origin);
  if (strange)
    throw new Error(`--since is a checkpoint of ${strange.origin}, --checkpoint one of ${checkpoint.origin}`);
  const witnessed = files.witness === undefined ? undefined : await readWitnessFile(linesOf(files.witness), verifiers);
  const ofWitness = (witnessed?.checkpoints ?? []).filter(({ origin }) => origin === checkpoint.origin);
  const known = [...since, ...ofWitness];
  const verdict = await verifyExport(linesOf(files.export), { checkpoint, since: known, dropped: files.dropped });
  if (!verdict.isWhole) return { isGood: false, text: verdict.reason };
  return { isGood: true, text: [wholeText(verdict, known.length), cutOffText(witnessed?.cutOff ?? 0)].join('') };
}

function unchangedText(rows: number): string {
  return rows === 1 ? '1 row is unchanged, as its proof shows' : `${rows} rows are unchanged, as their proofs show`;
}

function wholeText(verdict: Verdict & { isWhole: true }, others: number): string {
  const { size, dropped, keptSince, beyond, unchecked } = verdict;
  const asOf = keptSince ? ` as of ${keptSince}` : '';
  return [
    dropped > 0 ? `Unchanged up to ${size}` : `Complete and unchanged up to ${size}`,
    dropped > 0 ? `. Only ${firstRows(dropped)} missing, dropped by retention${asOf}` : '',
    others > 0 ? `; ${others - unchecked} further checkpoints agree` : '',
    unchecked > 0 ? `, ${unchecked} were not checked, because retention dropped their last row` : '',
    beyond > 0 ? `; ${beyond} rows after the newest checkpoint were not checked` : '',
  ].join('');
}

function firstRows(count: number): string {
  return count === 1 ? 'the first row is' : `the first ${count} rows are`;
}

function cutOffText(cutOff: number): string {
  return cutOff > 0 ? `; ${cutOff} checkpoints in the witness file have no complete signature and were ignored` : '';
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}

/**
 * A line at a time, so that a file may have any size. Not by `node:readline`, which also ends lines at U+2028 and U+2029:
 * JSON may hold them as they are.
 */
async function* readLines(file: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  if (signal) addAbortSignal(signal, input);
  let line = '';
  try {
    for await (const chunk of input.setEncoding('utf8') as AsyncIterable<string>) {
      const [end = '', ...next] = chunk.split('\n');
      line += end;
      for (const begun of next) {
        yield line.replace(/\r$/, '');
        line = begun;
      }
    }
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
  yield line.replace(/\r$/, '');
}
