import type { Checkpoint } from './checkpoint.ts';
import { hashOfRow, parseLine } from './export-line.ts';
import { addLeaf, emptyFrontier, type Frontier, readFrontier, rootOf } from './frontier.ts';
import { readHash } from './hashing.ts';

export type Verdict =
  | {
      isWhole: true;
      /** Counts complete and unchanged rows, also those that retention dropped. */
      size: number;
      dropped: number;
      /** `at` of the first row that is there, where retention dropped the ones before it. */
      keptSince?: string;
      /** Rows after the newest checkpoint, which are not verified. */
      beyond: number;
      /** Checkpoints whose last row was dropped. */
      unchecked: number;
    }
  | { isWhole: false; reason: string };

export interface VerifyOptions {
  checkpoint: Checkpoint;
  /** Further checkpoints, older and newer, that the tree must contain. */
  since?: readonly Checkpoint[];
  /** How many rows retention is known to have dropped. Counts only where the newest checkpoint does not say it. */
  dropped?: number | undefined;
}

/** If the root over the stated hashes is right, the first row that differs from its hash was changed, else the tree. */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  { checkpoint, since = [], dropped }: VerifyOptions,
): Promise<Verdict> {
  const known = [...since, checkpoint].sort((a, b) => a.size - b.size);
  const target = known.at(-1)?.size ?? 0;
  const stated = droppedBy(known, target);
  const walk: Walk = {
    ...{ known, target, stated, given: dropped },
    ...{ frontier: emptyFrontier, dropped: 0, unchecked: 0, lastGood: 0 },
  };
  const counts = { lines: 0, beyond: 0 };
  let reason = contradictionIn(walk) ?? faultAtSize(walk);
  for await (const line of lines) {
    if (reason !== undefined) break;
    if (line === '') continue;
    counts.lines += 1;
    if (walk.frontier.size >= target) counts.beyond += 1;
    else reason = readLine(line, walk, counts.lines) ?? faultAtSize(walk);
  }
  const { size } = walk.frontier;
  if (reason === undefined && size < target) {
    reason = `Row ${size} is missing: the export ends before row ${size}, but the newest checkpoint has ${target} rows`;
  }
  if (reason === undefined && walk.firstChanged) {
    reason = `The first row that differs from its hash is ${walk.firstChanged}`;
  }
  if (reason !== undefined) return { isWhole: false, reason };
  const { dropped: missing, unchecked, keptSince } = walk;
  return { isWhole: true, size, dropped: missing, beyond: counts.beyond, unchecked, ...(keptSince && { keptSince }) };
}

interface Walk {
  known: Checkpoint[];
  target: number;
  /** How many rows were dropped, as the newest checkpoint says, and as the caller does. */
  stated: number | undefined;
  given: number | undefined;
  frontier: Frontier;
  dropped: number;
  unchecked: number;
  lastGood: number;
  firstChanged?: string;
  keptSince?: string;
}

/** Of the newest checkpoint. Retention signs a tree that has not grown again, so of one size the largest number. */
function droppedBy(known: readonly Checkpoint[], newestSize: number): number | undefined {
  const stated = known.flatMap(({ size, dropped }) => (size === newestSize && dropped !== undefined ? [dropped] : []));
  return stated.length > 0 ? Math.max(...stated) : undefined;
}

function contradictionIn({ known, stated, given }: Walk): string | undefined {
  const other = known.find(({ size, root }, i) => known[i - 1]?.size === size && !known[i - 1]?.root.equals(root));
  if (other) return `There are two checkpoints of ${other.size} rows that contradict each other`;
  if (stated === undefined) return undefined;
  if (given !== undefined && given !== stated)
    return `--dropped says that retention has dropped ${given} rows, but the newest checkpoint says ${stated}`;
  const more = known.find(({ dropped = 0 }) => dropped > stated);
  if (!more) return undefined;
  return `The checkpoint of ${more.size} rows says that retention has dropped ${more.dropped} rows, but the newest checkpoint says ${stated}`;
}

function faultAtSize(walk: Walk): string | undefined {
  const { known, frontier } = walk;
  while (known[0] && known[0].size <= frontier.size) {
    const { size, root } = known.shift() as Checkpoint;
    if (size < frontier.size) walk.unchecked += 1;
    else if (!rootOf(frontier).equals(root)) return treeChanged(walk, size);
    else walk.lastGood = size;
  }
  return undefined;
}

function readLine(line: string, walk: Walk, number: number): string | undefined {
  const { row, fault } = parseLine(line);
  if (!row) return `Line ${number} ${fault}`;
  const { dropped, hashes } = row;
  if (number === 1 && typeof dropped === 'number' && Array.isArray(hashes) && Object.keys(row).length === 2) {
    return readDropped(dropped, hashes, walk);
  }
  const index = walk.frontier.size;
  if (row.leaf_index !== index) {
    return `Row ${index} is missing or moved: row ${String(row.leaf_index)} stands in its place`;
  }
  const stated = readHash(row.leaf_hash, 'hex');
  if (!stated) return `Row ${index} states no hash`;
  if (!hashOfRow(row)?.equals(stated)) walk.firstChanged ??= `row ${index} (${String(row.id)})`;
  if (walk.dropped > 0 && typeof row.at === 'string') walk.keptSince ??= row.at;
  walk.frontier = addLeaf(walk.frontier, stated);
  return undefined;
}

function treeChanged({ lastGood, firstChanged }: Walk, upTo: number): string {
  const row = firstChanged ? `; the first row that differs from its hash is ${firstChanged}` : '';
  const where =
    lastGood === 0
      ? `before the checkpoint of ${upTo} rows`
      : `between the checkpoints of ${lastGood} and ${upTo} rows`;
  return `The tree was changed ${where}${row}`;
}

function readDropped(size: number, hashes: readonly unknown[], walk: Walk): string | undefined {
  if (size > walk.target) {
    return `The export begins at row ${size}, but the newest checkpoint has only ${walk.target} rows. Give a newer checkpoint`;
  }
  const fault = `Line 1 does not hold the hashes of ${size} dropped rows`;
  const known = hashes.map((hash) => readHash(hash, 'base64'));
  if (!known.every((hash) => hash !== undefined)) return fault;
  try {
    walk.frontier = readFrontier(size, Buffer.concat(known));
    walk.dropped = size;
    return disagreementOn(size, walk);
  } catch (error) {
    if (error instanceof RangeError) return fault;
    throw error;
  }
}

/** Anybody can compute the hashes of rows that were removed, so the number of them must be signed, or known otherwise. */
function disagreementOn(size: number, { stated, given }: Walk): string | undefined {
  const claim = `The export says that retention has dropped the first ${size} rows of the ledger`;
  if (stated !== undefined) {
    const advice =
      'Either rows were removed, or retention ran after the export or the checkpoint was made. Get a new export and a new checkpoint';
    return size === stated ? undefined : `${claim}, but the newest checkpoint says ${stated}. ${advice}`;
  }
  if (given === undefined) {
    return `${claim}, but the newest checkpoint does not say how many rows retention has dropped. If you know that retention has dropped ${size} rows, give --dropped ${size}`;
  }
  return size === given ? undefined : `${claim}, but --dropped says ${given}`;
}
