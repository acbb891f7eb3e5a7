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
   * Await it before the value is given away. The row is in Postgres within `flushIntervalMs`; with a spool it survives
   * the process now. @throws {ServiceError} `unavailable` where it cannot be recorded.
   */
  record(disclosure: Disclosure): Promise<void>;
}

export interface MeasuredDisclosureLog extends DisclosureLog {
  state(): { waiting: number; refused: number };
}

export interface DisclosureLogOptions {
  db: Database;
  stack: AsyncDisposableStack;
  onError: (error: unknown) => void;
  flushIntervalMs?: number;
}

const batchSize = 1000;
/** A row that names many tokens counts as several. */
const countedBytes = 1024;
const probeIntervalMs = 1000;

type Waiting = SpooledRow<Segment | undefined>;

/** One write to the spool for several rows takes less than half the time of a write for each. */
interface Gathered {
  chunk: RowChunk;
  from: number;
  kept: Promise<void>;
}

/**
 * First writes what a previous process left in the spool; on disposal, what is queued. A row that Postgres refuses is
 * set aside and still counts as waiting. It is not dropped, because the table may be at fault; then all rows are
 * refused, and disclosing stops. @throws {Error} where the folder cannot be created.
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

  /** Rows that arrive meanwhile wait, because few statements with many rows cost less than many with few. */
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

  /** Tries a different refused row each time. Once one is accepted, all are tried again. */
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
    await gathered?.kept.catch(() => {}); // record() gives the error to its callers
    try {
      await flushOnce();
      await flushOnce();
    } finally {
      spool?.close();
    }
    if (refused.length > 0 && !spool) onError(new Error(`${refused.length} rows that Postgres refused are lost`));
  });

  /** At most once a second, because every disclosure fails meanwhile. */
  function complain(error: unknown): void {
    if (performance.now() - complainedAt < 1000) return;
    complainedAt = performance.now();
    onError(error);
  }

  const queued = () => Math.max(queue.length, Math.ceil(queue.bytes / countedBytes));
  const waiting = () => queued() + refused.length;

  function gather(chunk: RowChunk): Gathered {
    // By then all callers of this turn have added their rows to the write.
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
    state: () => ({ waiting: queued(), refused: refused.length }),
    record(disclosure) {
      if (isClosed || waiting() >= queueLimit) return Promise.reject(unavailable());
      const chunk = queue.write(toRowText(disclosure));
      if (gathered?.chunk !== chunk) gathered = gather(chunk);
      return gathered.kept;
    },
  };
}

function unavailable(cause?: unknown): ServiceError {
  return new ServiceError(
    'unavailable',
    'Disclosures cannot be recorded at the moment, so nothing is disclosed; try again later',
    {
      retryAfterSeconds: 1,
      ...(cause !== undefined && { cause }),
    },
  );
}
