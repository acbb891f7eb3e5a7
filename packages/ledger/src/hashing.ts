import { createHash } from 'node:crypto';

export const hashBytes = 32;

const leafPrefix = Buffer.from([0]);
const nodePrefix = Buffer.from([1]);

/** The root of a tree without leaves. */
export const emptyRoot = createHash('sha256').digest();

/** RFC 9162 section 2.1.1, for a leaf. */
export function hashLeaf(bytes: string | Buffer): Buffer {
  return createHash('sha256').update(leafPrefix).update(bytes).digest();
}

/** RFC 9162 section 2.1.1, for two subtrees. */
export function hashNode(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(nodePrefix).update(left).update(right).digest();
}
