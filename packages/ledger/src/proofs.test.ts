import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { emptyFrontier } from './frontier.ts';
import {
  addLeaf,
  type CompleteNode,
  consistencyRanges,
  inclusionRanges,
  isConsistent,
  joinSubtrees,
  type Range,
  rootOf,
  rootOfInclusion,
  subtreesIn,
} from './index.ts';

const sha = (...parts: (Buffer | number[])[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(Buffer.from(part));
  return hash.digest();
};

/** MTH of RFC 9162 section 2.1.1, written literally. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (!first) return sha();
  if (leaves.length === 1) return first;
  const k = split(leaves.length);
  return sha([1], naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

const split = (n: number) => 2 ** Math.ceil(Math.log2(n) - 1);

/** PATH of section 2.1.3.1. */
function naivePath(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  if (m < k) return [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))];
  return [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}

/** SUBPROOF of section 2.1.4.1. */
function naiveProof(m: number, leaves: readonly Buffer[], isWhole = true): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  if (m <= k) return [...naiveProof(m, leaves.slice(0, k), isWhole), naiveRoot(leaves.slice(k))];
  return [...naiveProof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}

const mostLeaves = 5000;
const allLeaves = Array.from({ length: mostLeaves }, (_, i) => sha([0], Buffer.from(String(i))));
const leavesOf = (size: number) => allLeaves.slice(0, size);

function grow(leaves: readonly Buffer[]) {
  const nodes = new Map<string, Buffer>();
  const note = ({ level, index, hash }: CompleteNode) => void nodes.set(`${level}/${index}`, hash);
  let frontier = emptyFrontier;
  for (const leaf of leaves) frontier = addLeaf(frontier, leaf, note);
  const hashOf = (range: Range) =>
    joinSubtrees(subtreesIn(range).map(({ level, index }) => nodes.get(`${level}/${index}`) ?? Buffer.alloc(0)));
  return { root: rootOf(frontier), hashOf };
}

/** Mostly small, because the definition takes time, and what differs between trees is in all sizes. */
const sizes = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 300 }) },
  fc.integer({ min: 1, max: mostLeaves }),
);

test('roots and proofs are those of the definition in RFC 9162, for random sizes up to 5,000', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), (size, some, other) => {
      const leaves = leavesOf(size);
      const [leafIndex, from] = [some % size, 1 + (other % size)];
      const { root, hashOf } = grow(leaves);
      expect(root).toEqual(naiveRoot(leaves));
      const inclusion = inclusionRanges(leafIndex, size).map(hashOf);
      expect(inclusion).toEqual(naivePath(leafIndex, leaves));
      const leafHash = leaves[leafIndex] ?? Buffer.alloc(0);
      expect(rootOfInclusion({ leafIndex, treeSize: size, leafHash }, inclusion)).toEqual(root);
      const consistency = consistencyRanges(from, size).map(hashOf);
      expect(consistency).toEqual(naiveProof(from, leaves));
      const older = { size: from, root: naiveRoot(leaves.slice(0, from)) };
      expect(isConsistent(older, { size, root }, consistency)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('a proof of another leaf, of another tree, or with a hash changed, added or left out proves nothing', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 600 }), fc.nat(), fc.nat(), (size, some, other) => {
      const leaves = leavesOf(size);
      const [leafIndex, from] = [some % size, 1 + (other % (size - 1))];
      const { root, hashOf } = grow(leaves);
      const inclusion = inclusionRanges(leafIndex, size).map(hashOf);
      const leafHash = leaves[leafIndex] ?? Buffer.alloc(0);
      const rootWith = (hashes: Buffer[], hash = leafHash, index = leafIndex) =>
        rootOfInclusion({ leafIndex: index, treeSize: size, leafHash: hash }, hashes);
      const changed = (hashes: Buffer[]) =>
        hashes.map((hash, i) => (i === some % hashes.length ? randomBytes(32) : hash));
      expect(rootWith(inclusion, randomBytes(32))).not.toEqual(root);
      expect(rootWith(changed(inclusion))).not.toEqual(root);
      expect(rootWith(inclusion.slice(1))).not.toEqual(root);
      expect(rootWith([...inclusion, randomBytes(32)])).not.toEqual(root);
      expect(rootWith(inclusion, leafHash, (leafIndex + 1) % size)).not.toEqual(root);
      const older = { size: from, root: naiveRoot(leaves.slice(0, from)) };
      const consistency = consistencyRanges(from, size).map(hashOf);
      expect(isConsistent({ ...older, root: randomBytes(32) }, { size, root }, consistency)).toBe(false);
      expect(isConsistent(older, { size, root: randomBytes(32) }, consistency)).toBe(false);
      expect(isConsistent(older, { size, root }, changed(consistency))).toBe(false);
      expect(isConsistent(older, { size, root }, consistency.slice(1))).toBe(false);
    }),
    { numRuns: 60 },
  );
});
