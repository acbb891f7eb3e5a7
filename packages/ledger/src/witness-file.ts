import { type Checkpoint, type Verifier, verifyCheckpoint } from './checkpoint.ts';

export interface Witnessed {
  checkpoints: Checkpoint[];
  /** Notes without a whole signature: their writer stopped while appending. */
  cutOff: number;
}

export function toWitnessEntry(note: string): string {
  return `${note}\n`;
}

/** Ignores other ledgers. @throws {Error} that names the line of a note which no verifier has signed. */
export async function readWitnessFile(
  lines: AsyncIterable<string> | Iterable<string>,
  verifiers: readonly Verifier[],
): Promise<Witnessed> {
  const witnessed: Witnessed = { checkpoints: [], cutOff: 0 };
  for await (const { line, body, signatures } of notesIn(lines)) {
    if (!signatures.some(isWholeSignature)) witnessed.cutOff += 1;
    else if (verifiers.some(({ name }) => name === body[0])) {
      witnessed.checkpoints.push(open([...body, '', ...signatures, ''].join('\n'), { line, verifiers }));
    }
  }
  return witnessed;
}

/** A note ends with its signatures, so that a torn note spoils no other. */
async function* notesIn(lines: AsyncIterable<string> | Iterable<string>) {
  let note = { line: 1, body: [] as string[], signatures: [] as string[] };
  let count = 0;
  let isAfterBlank = true;
  for await (const line of lines) {
    count += 1;
    if (line === '') {
      isAfterBlank = true;
      continue;
    }
    const isSignature = /^[—\uFFFD]/.test(line); // a torn dash reads as U+FFFD
    if (isAfterBlank && !isSignature) {
      if (note.body.length > 0) yield note;
      note = { line: count, body: [], signatures: [] };
    }
    note[isSignature ? 'signatures' : 'body'].push(line);
    isAfterBlank = false;
  }
  if (note.body.length > 0) yield note;
}

/** Four bytes of key id and 64 of an Ed25519 signature. */
function isWholeSignature(line: string): boolean {
  return /^— \S+ [A-Za-z0-9+/]{91}=$/.test(line);
}

function open(note: string, { line, verifiers }: { line: number; verifiers: readonly Verifier[] }): Checkpoint {
  try {
    return verifyCheckpoint(note, verifiers);
  } catch (cause) {
    throw new Error(`The note at line ${line} of the witness file: ${(cause as Error).message}`, { cause });
  }
}
