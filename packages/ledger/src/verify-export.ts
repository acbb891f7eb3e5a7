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
}

/** If the root over the stated hashes is right, the first row that differs from its hash was changed, else the tree. */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  { checkpoint, since = [] }: VerifyOptions,
): Promise<Verdict> {
  const known = [...since, checkpoint].sort((a, b) => a.size - b.size);
  const target = known.at(-1)?.size ?? 0;
  const walk: Walk = { known, target, frontier: emptyFrontier, dropped: 0, unchecked: 0, lastGood: 0 };
  const counts = { lines: 0, beyond: 0 };
  let reason = contradictionIn(known) ?? faultAtSize(walk);
  for await (const line of lines) {
    if (reason !== undefined) break;
    if (line === '') continue;
    counts.lines += 1;
    if (walk.frontier.size >= target) counts.beyond += 1;
    else reason = readLine(line, walk, counts.lines) ?? faultAtSize(walk);
  }
  const { size } = walk.frontier;
  if (reason === undefined && size < target) {
    reason = `Row ${size} is missing: the export ends, the newest checkpoint has ${target} rows`;
  }
  if (reason === undefined && walk.firstChanged) {
    reason = `The first row that differs from its hash is ${walk.firstChanged}`;
  }
  if (reason !== undefined) return { isWhole: false, reason };
  return { isWhole: true, size, dropped: walk.dropped, beyond: counts.beyond, unchecked: walk.unchecked };
}

interface Walk {
  known: Checkpoint[];
  target: number;
  frontier: Frontier;
  dropped: number;
  unchecked: number;
  lastGood: number;
  firstChanged?: string;
}

function contradictionIn(known: readonly Checkpoint[]): string | undefined {
  const other = known.find(({ size, root }, i) => known[i - 1]?.size === size && !known[i - 1]?.root.equals(root));
  return other && `There are two checkpoints of ${other.size} rows that contradict each other`;
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
    return `The export begins at row ${size}, the newest checkpoint has ${walk.target} rows: it needs a newer one`;
  }
  const fault = `Line 1 does not hold the hashes of ${size} dropped rows`;
  const known = hashes.map((hash) => readHash(hash, 'base64'));
  if (!known.every((hash) => hash !== undefined)) return fault;
  try {
    walk.frontier = readFrontier(size, Buffer.concat(known));
    walk.dropped = size;
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return fault;
    throw error;
  }
}
