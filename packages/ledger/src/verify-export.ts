import type { Checkpoint } from './checkpoint.ts';
import { addLeaf, emptyFrontier, type Frontier, readFrontier, rootOf } from './frontier.ts';
import { leafHash } from './leaf.ts';

/** What a verification found. */
export type Verdict =
  | { isWhole: true; size: number; dropped: number; beyond: number }
  | { isWhole: false; reason: string };

export interface VerifyOptions {
  checkpoint: Checkpoint;
  /** Older checkpoints, which the tree must contain. */
  since?: readonly Checkpoint[];
}

/**
 * Checks a whole export against a checkpoint, a line at a time. First the root over the hashes that the rows state: where
 * it is right, the first row that differs from its stated hash was changed. Where it is wrong, the tree itself was.
 */
export async function verifyExport(
  lines: AsyncIterable<string> | Iterable<string>,
  { checkpoint, since = [] }: VerifyOptions,
): Promise<Verdict> {
  const known = [...since, checkpoint].sort((a, b) => a.size - b.size);
  const state = { frontier: emptyFrontier, dropped: 0, beyond: 0, lastGood: 0, isFirst: true };
  let firstChanged: string | undefined;
  const reach = (frontier: Frontier): string | undefined => {
    while (known[0] && known[0].size <= frontier.size) {
      const next = known.shift();
      if (!next || next.size < frontier.size) continue; // inside of what was dropped: cannot be checked
      if (!rootOf(frontier).equals(next.root)) return treeChanged(state.lastGood, next.size, firstChanged);
      state.lastGood = next.size;
    }
    return undefined;
  };
  let fault = reach(emptyFrontier);
  for await (const line of lines) {
    if (fault) break;
    if (line === '') continue;
    const row = parseLine(line);
    if (!row) return { isWhole: false, reason: `Line ${state.frontier.size - state.dropped + 1} is no JSON object` };
    if (state.isFirst && typeof row.dropped === 'number' && Array.isArray(row.hashes)) {
      state.frontier = readDropped(row.dropped, row.hashes);
      state.dropped = row.dropped;
    } else if (state.frontier.size >= checkpoint.size) {
      state.beyond += 1;
      continue;
    } else {
      const index = state.frontier.size;
      if (row.leaf_index !== index) {
        return {
          isWhole: false,
          reason: `Row ${index} is missing or moved: row ${String(row.leaf_index)} stands in its place`,
        };
      }
      const stated = Buffer.from(String(row.leaf_hash), 'hex');
      if (stated.length !== 32) return { isWhole: false, reason: `Row ${index} states no hash` };
      if (!leafHash(row, Number(row.leaf_version)).equals(stated)) firstChanged ??= `row ${index} (${String(row.id)})`;
      state.frontier = addLeaf(state.frontier, stated);
    }
    state.isFirst = false;
    fault = reach(state.frontier);
  }
  if (fault) return { isWhole: false, reason: fault };
  if (state.frontier.size < checkpoint.size) {
    const { size } = state.frontier;
    return {
      isWhole: false,
      reason: `Row ${size} is missing: the export ends, the checkpoint has ${checkpoint.size} rows`,
    };
  }
  if (firstChanged) return { isWhole: false, reason: `The first row that differs from its hash is ${firstChanged}` };
  return { isWhole: true, size: checkpoint.size, dropped: state.dropped, beyond: state.beyond };
}

function treeChanged(after: number, upTo: number, firstChanged: string | undefined): string {
  const row = firstChanged ? `; the first row that differs from its hash is ${firstChanged}` : '';
  const where =
    after === 0 ? `before the checkpoint of ${upTo} rows` : `between the checkpoints of ${after} and ${upTo} rows`;
  return `The tree was changed ${where}${row}`;
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // the caller says which line
  }
}

function readDropped(size: number, hashes: readonly unknown[]): Frontier {
  return readFrontier(size, Buffer.concat(hashes.map((hash) => Buffer.from(String(hash), 'base64'))));
}
