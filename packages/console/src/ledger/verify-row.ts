import type { Log, LogProof } from '@sluice/sdk';
import { type Bytes, fromBase64, join, sha256, toHex } from './bytes.ts';
import { canonicalJson } from './canonical-json.ts';
import { type Checkpoint, readKeyFile, verifyCheckpoint } from './checkpoint.ts';

export type Verdict = { isProven: true; checkpoint: Checkpoint } | { isProven: false; reason: string };

/** The version of the format in which rows are hashed. */
const leafVersion = 1;

/**
 * Checks that a signed checkpoint covers the row as the page shows it. The page computes this itself, so it has to trust only the
 * ledger's key, not the service.
 */
export async function verifyRow(row: Log, proof: LogProof, keyFile: string): Promise<Verdict> {
  const leaf = await sha256(join(Uint8Array.of(0), canonicalJson({ ...row, leaf_version: leafVersion })));
  if (toHex(leaf) !== proof.leaf_hash) {
    return { isProven: false, reason: 'The row that is shown differs from the one that was hashed into the tree.' };
  }
  try {
    const checkpoint = await verifyCheckpoint(proof.checkpoint, await readKeyFile(keyFile));
    if (checkpoint.size !== proof.tree_size) {
      return {
        isProven: false,
        reason: 'The size of the tree in the proof differs from the size in the signed checkpoint.',
      };
    }
    const root = await rootOver(leaf, proof);
    return root === checkpoint.root
      ? { isProven: true, checkpoint }
      : { isProven: false, reason: 'The proof does not lead from the row to the root that was signed.' };
  } catch (error) {
    if (error instanceof Error) return { isProven: false, reason: error.message };
    throw error;
  }
}

/** RFC 9162 section 2.1.3.2, in hex. Undefined if the shape of the proof is wrong. */
async function rootOver(leaf: Bytes, { leaf_index: leafIndex, tree_size: treeSize, hashes }: LogProof) {
  if (leafIndex < 0 || leafIndex >= treeSize) return undefined;
  let [node, last] = [leafIndex, treeSize - 1];
  let root = leaf;
  for (const text of hashes) {
    const hash = fromBase64(text);
    if (last === 0 || hash?.length !== 32) return undefined;
    if (node % 2 === 1 || node === last) {
      root = await hashNode(hash, root);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      root = await hashNode(root, hash);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? toHex(root) : undefined;
}

function hashNode(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(join(Uint8Array.of(1), left, right));
}
