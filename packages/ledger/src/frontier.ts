import { emptyRoot, hashBytes, hashNode } from './hashing.ts';

/** A complete subtree of 2^`level` leaves, the first of which is `index` × 2^`level`. */
export interface Subtree {
  level: number;
  index: number;
}

export interface CompleteNode extends Subtree {
  hash: Buffer;
}

/** Hashes of the complete subtrees over all leaves, largest first. New leaves and the root need no others. */
export interface Frontier {
  size: number;
  hashes: Buffer[];
}

export const emptyFrontier: Frontier = { size: 0, hashes: [] };

/** Calls `onNode` for every completed subtree, first for the leaf itself. */
export function addLeaf({ size, hashes }: Frontier, leafHash: Buffer, onNode?: (node: CompleteNode) => void): Frontier {
  const rest = [...hashes];
  let hash = leafHash;
  let level = 0;
  let index = size;
  onNode?.({ level, index, hash });
  while (index % 2 === 1) {
    const left = rest.pop();
    if (!left) throw new RangeError('The frontier does not fit its size');
    hash = hashNode(left, hash);
    level += 1;
    index = (index - 1) / 2;
    onNode?.({ level, index, hash });
  }
  return { size: size + 1, hashes: [...rest, hash] };
}

/** RFC 9162 section 2.1.1. */
export function rootOf({ hashes }: Frontier): Buffer {
  if (hashes.length === 0) return emptyRoot;
  return hashes.reduceRight((right, left) => hashNode(left, right));
}

export function subtreesOf(size: number): Subtree[] {
  const subtrees: Subtree[] = [];
  let start = 0;
  for (let level = 52; level >= 0; level--) {
    const width = 2 ** level;
    if (size - start < width) continue;
    subtrees.push({ level, index: start / width });
    start += width;
  }
  return subtrees;
}

/** @throws {RangeError} where the number of hashes does not fit this size. */
export function readFrontier(size: number, bytes: Buffer): Frontier {
  const isSize = Number.isSafeInteger(size) && size >= 0;
  if (!isSize || bytes.length !== subtreesOf(size).length * hashBytes)
    throw new RangeError('The frontier does not fit its size');
  const hashes = Array.from({ length: bytes.length / hashBytes }, (_, i) =>
    bytes.subarray(i * hashBytes, (i + 1) * hashBytes),
  );
  return { size, hashes };
}
