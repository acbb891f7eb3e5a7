import { type Verifier, verifyCheckpoint } from './checkpoint.ts';
import { hashOfRow, parseLine } from './export-line.ts';
import { readHash } from './hashing.ts';
import { rootOfInclusion } from './proofs.ts';

export type RowsVerdict = { isProven: true; rows: number } | { isProven: false; reason: string };

/** Checks rows of any export against proofs of `GET /logs/{id}/proof`, one a line. Missing rows are not noticed. */
export async function verifyRows(
  lines: AsyncIterable<string> | Iterable<string>,
  proofs: AsyncIterable<string> | Iterable<string>,
  verifiers: readonly Verifier[],
): Promise<RowsVerdict> {
  const proven = new Map<unknown, string>();
  for await (const line of proofs) {
    if (line === '') continue;
    const { row: proof, fault } = parseLine(line);
    if (!proof) return { isProven: false, reason: `A line of the proofs ${fault}` };
    const untrue = faultOf(proof, verifiers);
    if (untrue) return { isProven: false, reason: `The proof of row ${String(proof.leaf_index)}: ${untrue}` };
    proven.set(proof.leaf_index, String(proof.leaf_hash));
  }
  let rows = 0;
  for await (const line of lines) {
    if (line === '') continue;
    const { row, fault } = parseLine(line);
    if (!row) return { isProven: false, reason: `Line ${rows + 1} ${fault}` };
    const name = `Row ${String(row.leaf_index)} (${String(row.id)})`;
    const hash = proven.get(row.leaf_index);
    if (hash === undefined) return { isProven: false, reason: `${name} has no proof, or is in the export twice` };
    if (row.leaf_hash !== hash || hashOfRow(row)?.toString('hex') !== hash)
      return { isProven: false, reason: `${name} differs from what its proof proves` };
    proven.delete(row.leaf_index);
    rows += 1;
  }
  return { isProven: true, rows };
}

function faultOf(proof: Record<string, unknown>, verifiers: readonly Verifier[]): string | undefined {
  const { leaf_index, tree_size, leaf_hash, hashes, checkpoint } = proof;
  const leafHash = readHash(leaf_hash, 'hex');
  if (!Number.isSafeInteger(leaf_index) || !leafHash) return 'it names no leaf';
  try {
    const { size, root } = verifyCheckpoint(String(checkpoint), verifiers);
    if (size !== tree_size) return 'its checkpoint is of another size';
    const leaf = { leafIndex: Number(leaf_index), treeSize: size, leafHash };
    const path = (Array.isArray(hashes) ? hashes : []).map((hash) => readHash(hash, 'base64') ?? Buffer.alloc(0));
    return rootOfInclusion(leaf, path)?.equals(root) ? undefined : 'it does not lead to the root of its checkpoint';
  } catch (error) {
    return (error as Error).message;
  }
}
