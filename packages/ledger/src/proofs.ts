import { type Subtree, subtreesOf } from './frontier.ts';
import { hashNode } from './hashing.ts';

/** One element of a proof is the hash of the leaves from `start` up to `end`. */
export interface Range {
  start: number;
  end: number;
}

/** The hashes that prove a leaf in a tree (RFC 9162 section 2.1.3.1), in their order. */
export function inclusionRanges(leafIndex: number, treeSize: number): Range[] {
  if (!Number.isSafeInteger(leafIndex) || leafIndex < 0 || leafIndex >= treeSize) {
    throw new RangeError(`A tree of ${treeSize} leaves has no leaf ${leafIndex}`);
  }
  const ranges: Range[] = [];
  let [start, end] = [0, treeSize];
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start);
    if (leafIndex < middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  return ranges;
}

/** The hashes that prove that a tree is the beginning of a larger one (RFC 9162 section 2.1.4.1), in their order. */
export function consistencyRanges(from: number, to: number): Range[] {
  if (!Number.isSafeInteger(from) || from < 1 || from > to) throw new RangeError('There are no trees of these sizes');
  const ranges: Range[] = [];
  let [start, end] = [0, to];
  let isWhole = true; // the older tree is a subtree, whose root the verifier knows
  while (from !== end) {
    const middle = start + largestPowerBelow(end - start);
    if (from <= middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
      isWhole = false;
    }
  }
  return isWhole ? ranges : [{ start, end }, ...ranges];
}

export function subtreesIn({ start, end }: Range): Subtree[] {
  return subtreesOf(end - start).map(({ level, index }) => ({ level, index: index + start / 2 ** level }));
}

export function joinSubtrees(hashes: readonly Buffer[]): Buffer {
  return hashes.reduceRight((right, left) => hashNode(left, right));
}

/** RFC 9162 section 2.1.3.2. Undefined where the shape of the proof is wrong. */
export function rootOfInclusion(
  { leafIndex, treeSize, leafHash }: { leafIndex: number; treeSize: number; leafHash: Buffer },
  hashes: readonly Buffer[],
): Buffer | undefined {
  if (leafIndex < 0 || leafIndex >= treeSize) return undefined;
  let [node, last] = [leafIndex, treeSize - 1];
  let root = leafHash;
  for (const hash of hashes) {
    if (last === 0) return undefined;
    if (node % 2 === 1 || node === last) {
      root = hashNode(hash, root);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      root = hashNode(root, hash);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : undefined;
}

/** RFC 9162 section 2.1.4.2: whether the older tree is the beginning of the newer one. */
export function isConsistent(
  older: { size: number; root: Buffer },
  newer: { size: number; root: Buffer },
  hashes: readonly Buffer[],
): boolean {
  if (older.size === newer.size) return hashes.length === 0 && older.root.equals(newer.root);
  if (older.size < 1 || older.size > newer.size) return false;
  const path = Number.isInteger(Math.log2(older.size)) ? [older.root, ...hashes] : [...hashes];
  const first = path.shift();
  if (!first) return false;
  let [node, last] = [older.size - 1, newer.size - 1];
  while (node % 2 === 1) {
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  let [oldRoot, newRoot] = [first, first];
  for (const hash of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      oldRoot = hashNode(hash, oldRoot);
      newRoot = hashNode(hash, newRoot);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      newRoot = hashNode(newRoot, hash);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && oldRoot.equals(older.root) && newRoot.equals(newer.root);
}

function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}
