import { canonicalJson } from './canonical-json.ts';
import { hashLeaf } from './hashing.ts';

/** Of the leaves that are made now. */
export const leafVersion = 1;

/** The bytes of a row's leaf: its canonical form with the version, without the place that the ledger gives it. */
export function leafBytes(row: object, version: number): string {
  return canonicalJson({ ...row, leaf_version: version, leaf_index: undefined, leaf_hash: undefined });
}

/** The hash of the leaf of a row. */
export function leafHash(row: object, version: number): Buffer {
  return hashLeaf(leafBytes(row, version));
}
