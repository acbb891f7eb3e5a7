import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { type Disclosure, idOf, insertRows, toRowText } from './disclosure.ts';
import type { DisclosureSettings } from './disclosure-settings.ts';
import { insertAccepted, isAboutRows } from './insert-accepted.ts';
import { type RowChunk, RowRange } from './row-chunk.ts';
import { RowQueue, type SpooledRow } from './row-queue.ts';
import { openSpool, type Segment } from './spool.ts';

export interface DisclosureLog {
  /**
   * Notes a disclosure that is about to happen: wait for it before the value goes anywhere. The row is in Postgres within
   * `flushIntervalMs`; with a spool it outlives the process from then on.
   * @throws {ServiceError} `unavailable` when rows cannot be stored: what cannot be recorded is not disclosed.
   */
  record(disclosure: Disclosure): Promise<void>;
}

export interface MeasuredDisclosureLog extends DisclosureLog {
  /** Rows that are not in Postgres: those that wait, and those that it refuses. */
  state(): { waiting: number; refused: number };
}

export interface DisclosureLogOptions {
  db: Database;
  stack: AsyncDisposableStack;
  /** Told of each batch that could not be written; it stays queued and is tried again. */
  onError: (error: unknown) => void;
  flushIntervalMs?: number;
}

const batchSize = 1000;
const probeIntervalMs = 1000;

type Waiting = SpooledRow<Segment | undefined>;

/** Rows that are kept by one write to the spool, in less than half of the time of one for each. */
interface Gathered {
  chunk: RowChunk;
  /** The position of the first of them in the chunk. */
  from: number;
  kept: Promise<void>;
}

/**
 * Opens the log; what a former process left in the spool is written first. On disposal what is queued is written before
 * it closes.
 *
 * A row that Postgres refuses is set aside, where it holds up no other, and goes on counting as one that waits. It is
 * not dropped, since it may be the table that is at fault; then all are refused, and disclosing stops.
 * @throws {Error} where there can be no such folder.
 */
export function openDisclosureLog(
  { DISCLOSURE_QUEUE_LIMIT: queueLimit, DISCLOSURE_SPOOL_DIRECTORY: directory }: DisclosureSettings,
  { db, stack, onError, flushIntervalMs = 100 }: DisclosureLogOptions,
): MeasuredDisclosureLog {
  const spool = directory === undefined ? undefined : openSpool({ directory, onError });
  const queue = new RowQueue<Segment | undefined>();
  queue.putFirst(spool?.left ?? []);
  let refused: Waiting[] = [];
  let gathered: Gathered | undefined;
  let flushing: Promise<void> | undefined;
  let probedAt = 0;
  let complainedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const insert = (rows: RowRange) => insertRows(db, rows.lines());

  /** What comes meanwhile waits for the next time: few statements with many rows cost less than many with few. */
  async function flush(): Promise<void> {
    if (refused.length > 0 && performance.now() - probedAt >= probeIntervalMs) await probe();
    let due = queue.length;
    for (let batch = queue.first(batchSize); batch && due > 0; batch = queue.first(batchSize)) {
      due -= batch.length;
      const { refused: found, reason } = await insertAccepted(batch, insert);
      const outcasts = found.map((one) => setAside({ row: one.text(), segment: one.segment }));
      if (batch.segment) spool?.release(batch.segment, batch.length - found.length);
      queue.removeFirst(batch);
      if (outcasts.length === 0) continue;
      refused.push(...outcasts);
      const ids = outcasts.slice(0, 3).map(({ row }) => idOf(row));
      onError(new Error(`Postgres refuses ${found.length} rows, such as ${ids}; they wait`, { cause: reason }));
    }
  }

  /** Tries one of those that were refused, each time another. Where it is accepted now, all are tried again. */
  async function probe(): Promise<void> {
    probedAt = performance.now();
    const one = refused.shift();
    if (!one) return;
    refused.push(one);
    try {
      await insertRows(db, Buffer.from(`\n${one.row}`));
    } catch (error) {
      if (isAboutRows(error)) return;
      throw error;
    }
    queue.putFirst(refused);
    refused = [];
  }

  function setAside(one: Waiting): Waiting {
    if (!spool || !one.segment) return one;
    try {
      const moved = { row: one.row, segment: spool.setAside([one.row]) };
      spool.release(one.segment, 1);
      return moved;
    } catch (error) {
      onError(error);
      return one; // it keeps its file
    }
  }

  function flushOnce(): Promise<void> {
    flushing ??= flush().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  const timer = setInterval(() => {
    if (waiting() > 0 && !flushing) flushOnce().catch(onError);
  }, flushIntervalMs);

  stack.defer(async () => {
    clearInterval(timer);
    isClosed = true;
    await gathered?.kept.catch(() => {}); // those who record are told
    try {
      await flushOnce();
      await flushOnce();
    } finally {
      spool?.close();
    }
    if (refused.length > 0 && !spool) onError(new Error(`${refused.length} rows that Postgres refused are lost`));
  });

  /** Once a second at most: every disclosure is refused meanwhile. */
  function complain(error: unknown): void {
    if (performance.now() - complainedAt < 1000) return;
    complainedAt = performance.now();
    onError(error);
  }

  const waiting = () => queue.length + refused.length;

  function gather(chunk: RowChunk): Gathered {
    // Behind all that are about to record theirs, too: requests that began together come here together.
    const kept: Promise<void> = Promise.resolve().then(() => keep(own));
    const own: Gathered = { chunk, from: chunk.count - 1, kept };
    return own;
  }

  function keep(own: Gathered): void {
    const { chunk, from } = own;
    if (gathered === own) gathered = undefined;
    try {
      const segment = spool?.append(new RowRange(chunk, undefined, { from, to: chunk.count }));
      queue.push(chunk, from, segment);
    } catch (error) {
      queue.takeBack(chunk, from);
      complain(error);
      throw unavailable(error);
    }
  }

  return {
    state: () => ({ waiting: queue.length, refused: refused.length }),
    record(disclosure) {
      if (isClosed || waiting() >= queueLimit) return Promise.reject(unavailable());
      const chunk = queue.write(toRowText(disclosure));
      if (gathered?.chunk !== chunk) gathered = gather(chunk);
      return gathered.kept;
    },
  };
}

function unavailable(cause?: unknown): ServiceError {
  return new ServiceError('unavailable', 'Disclosures cannot be recorded at the moment; nothing is disclosed', {
    retryAfterSeconds: 1,
    ...(cause !== undefined && { cause }),
  });
}
