import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { RowText } from './disclosure.ts';
import { RowRange } from './row-chunk.ts';
import type { SpooledRow } from './row-queue.ts';

export interface Segment {
  path: string;
  /** Undefined for a file of a previous process, which receives no more rows. */
  descriptor: number | undefined;
  bytes: number;
  waiting: number;
}

type Rows = RowRange | readonly RowText[];

/** Stores rows until Postgres has them, even if the process dies. */
export interface Spool {
  /** From previous processes, oldest first. */
  left: readonly SpooledRow<Segment>[];
  /** Rows survive the process, but not the machine. @throws {Error} if the write failed; then none is in the file. */
  append(rows: Rows): Segment;
  /** In a separate file, because one row that stays long would keep a file full of others. */
  setAside(rows: Rows): Segment;
  release(segment: Segment, count: number): void;
  close(): void;
}

export interface SpoolOptions {
  /** One process uses it. It is created if it does not exist. */
  directory: string;
  onError: (error: unknown) => void;
  segmentBytes?: number;
}

const suffix = '.ndjson';

/** A line break before each row keeps torn lines apart. @throws {Error} where the folder cannot be created. */
export function openSpool({ directory, onError, segmentBytes = 1024 * 1024 }: SpoolOptions): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const left = readLeft(directory, onError);
  const prefix = `${Date.now()}-${process.pid}`;
  let created = 0;
  let current: Segment | undefined;
  let aside: Segment | undefined;

  function create(): Segment {
    created += 1;
    const path = join(directory, `${prefix}-${String(created).padStart(6, '0')}${suffix}`);
    return { path, descriptor: openSync(path, 'ax', 0o600), bytes: 0, waiting: 0 };
  }

  function remove({ path, descriptor }: Segment): void {
    try {
      if (descriptor !== undefined) closeSync(descriptor);
      unlinkSync(path);
    } catch (error) {
      onError(error); // the rows are inserted again at the next start, which changes nothing
    }
  }

  function empty(segment: Segment): void {
    try {
      if (segment.descriptor !== undefined) ftruncateSync(segment.descriptor);
      segment.bytes = 0;
    } catch (error) {
      onError(error);
    }
  }

  return {
    left,
    append(rows) {
      if (!current || current.bytes >= segmentBytes) current = create();
      return write(current, rows);
    },
    setAside(rows) {
      if (!aside || aside.bytes >= segmentBytes) aside = create();
      return write(aside, rows);
    },
    release(segment, count) {
      segment.waiting -= count;
      if (segment.waiting > 0) return;
      if (segment === current || segment === aside) empty(segment);
      else remove(segment);
    },
    close() {
      for (const segment of [current, aside]) if (segment?.waiting === 0) remove(segment);
      current = undefined;
      aside = undefined;
    },
  };
}

function write(segment: Segment, rows: Rows): Segment {
  const { path, descriptor } = segment;
  if (descriptor === undefined) throw new TypeError(`${path} is another process's`);
  const lines = rows instanceof RowRange ? rows.lines() : Buffer.from(`\n${rows.join('\n')}`);
  const written = writeSync(descriptor, lines);
  if (written < lines.length) {
    cutOff(segment, descriptor);
    throw new Error(`Only a part could be written to ${path}`);
  }
  segment.bytes += written;
  segment.waiting += rows.length;
  return segment;
}

/** Removes a partial write. If that fails, the file receives no more rows. */
function cutOff(segment: Segment, descriptor: number): void {
  const { bytes } = segment;
  segment.bytes = Number.POSITIVE_INFINITY;
  ftruncateSync(descriptor, bytes);
  segment.bytes = bytes;
}

function readLeft(directory: string, onError: (error: unknown) => void): Spool['left'] {
  const names = readdirSync(directory).filter((name) => name.endsWith(suffix));
  return names.sort().flatMap((name) => {
    const path = join(directory, name);
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    const rows = lines.flatMap(readRow);
    if (rows.length < lines.length) {
      onError(new Error(`${lines.length - rows.length} lines of ${path} were written in part; they are skipped`));
    }
    if (rows.length === 0) unlinkSync(path);
    const segment = { path, descriptor: undefined, bytes: 0, waiting: rows.length };
    return rows.map((row) => ({ ...row, segment }));
  });
}

const texts = ['id', 'at', 'tenant_id', 'operation', 'entity_type', 'entity_id'] as const;

function readRow(row: string): { row: RowText; tenantId: string }[] {
  try {
    const found = JSON.parse(row) as Record<string, unknown> | null;
    if (found === null || !texts.every((name) => typeof found[name] === 'string')) return [];
    return [{ row, tenantId: String(found.tenant_id) }];
  } catch {
    return []; // torn: the process died or the disk filled up while writing
  }
}
