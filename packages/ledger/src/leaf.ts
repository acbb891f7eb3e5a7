import { canonicalJson } from './canonical-json.ts';
import { hashLeaf } from './hashing.ts';

export const leafVersion = 1;

/** The row in canonical form, with the version and without its position in the ledger. */
function leafBytes(row: object, version: number): string {
  return canonicalJson({ ...row, leaf_version: version, leaf_index: undefined, leaf_hash: undefined });
}

export function leafHash(row: object, version: number): Buffer {
  return hashLeaf(leafBytes(row, version));
}
