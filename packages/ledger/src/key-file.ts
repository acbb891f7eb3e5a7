import { readVerifierLine, type Verifier } from './checkpoint.ts';

/** Reads `/.well-known/sluice-ledger-key/<tenant id>`. @throws {Error} for a malformed line, and for no line. */
export function readKeyFile(text: string): Verifier[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new Error('The key file holds no key');
  return lines.map(readVerifierLine);
}
