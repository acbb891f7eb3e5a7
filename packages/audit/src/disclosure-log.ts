import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { type Disclosure, idOf, insertRows, toRowText } from './disclosure.ts';
import type { DisclosureSettings } from './disclosure-settings.ts';
import { type RowChunk, RowRange } from './row-chunk.ts';
import { RowQueue, type SpooledRow } from './row-queue.ts';
import { openSpool, type Segment } from './spool.ts';
import { WaitingRows } from './waiting-rows.ts';

export interface DisclosureLog {
  /**
   * Await it before the value leaves. The row is in Postgres within `flushIntervalMs`; with a spool it now survives the
   * process. @throws {ServiceError} `unavailable` if it cannot be recorded.
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
const probeIntervalMs = 1000;

type Waiting = SpooledRow<Segment | undefined>;

/** One write to the spool for several rows takes less than half the time of a write for each. */
interface Gathered {
  chunk: RowChunk;
  from: number;
  kept: Promise<void>;
}

/**
 * Begins with rows that a previous process left in the spool; disposal writes queued rows. A row that Postgres refuses
 * is retried separately and still counts as queued. It is not dropped, because the table may be at fault; then all rows
 * are refused, and disclosing stops. @throws {Error} if the folder cannot be created.
 */
export function openDisclosureLog(
  { DISCLOSURE_QUEUE_LIMIT: queueLimit, DISCLOSURE_SPOOL_DIRECTORY: directory }: DisclosureSettings,
  { db, stack, onError, flushIntervalMs = 100 }: DisclosureLogOptions,
): MeasuredDisclosureLog {
  const spool = directory === undefined ? undefined : openSpool({ directory, onError });
  const waiting = new WaitingRows();
  /** Half, so that the rows of one Tenant cannot fill the queue for others. */
  const tenantLimit = Math.ceil(queueLimit / 2);
  const queue = new RowQueue<Segment | undefined>(waiting);
  queue.putFirst(spool?.left ?? []);
  let refused: Waiting[] = [];
  let gathered: Gathered | undefined;
  let flushing: Promise<void> | undefined;
  let probedAt = 0;
  let complainedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const insert = (rows: RowRange) => insertRows(db, rows.lines());

  /** Rows that arrive during a flush wait, because a few statements with many rows cost less than many with few. */
  async function flush(): Promise<void> {
    if (refused.length > 0 && performance.now() - probedAt >= probeIntervalMs) await probe();
    let due = queue.length;
    for (let batch = queue.first(batchSize); batch && due > 0; batch = queue.first(batchSize)) {
      due -= batch.length;
      const { refused: found, reason } = await insertAccepted(batch, insert);
      const outcasts = found.map((one) =>
        setAside({ row: one.text(), tenantId: one.chunk.share(one.from).tenantId, segment: one.segment }),
      );
      if (batch.segment) spool?.release(batch.segment, batch.length - found.length);
      queue.removeFirst(batch);
      if (outcasts.length === 0) continue;
      for (const one of outcasts) waiting.add(waiting.of(one.tenantId), sizeOf(one));
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
    for (const each of refused) waiting.remove(waiting.of(each.tenantId), sizeOf(each));
    refused = [];
  }

  function setAside(one: Waiting): Waiting {
    if (!spool || !one.segment) return one;
    try {
      const moved = { ...one, segment: spool.setAside([one.row]) };
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
    if (waiting.count > 0 && !flushing) flushOnce().catch(onError);
  }, flushIntervalMs);

  stack.defer(async () => {
    clearInterval(timer);
    isClosed = true;
    await gathered?.kept.catch(() => {}); // record() passes the error to its callers
    try {
      await flushOnce();
      await flushOnce();
    } finally {
      spool?.close();
    }
    if (refused.length > 0 && !spool) onError(new Error(`${refused.length} rows that Postgres refused are lost`));
  });

  /** At most once a second, because until then every disclosure fails. */
  function complain(error: unknown): void {
    if (performance.now() - complainedAt < 1000) return;
    complainedAt = performance.now();
    onError(error);
  }

  function gather(chunk: RowChunk): Gathered {
    // By then all callers of this event loop iteration have added their rows to the write.
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
    state: () => ({ waiting: waiting.count - refused.length, refused: refused.length }),
    record(disclosure) {
      if (isClosed || waiting.count >= queueLimit) return Promise.reject(unavailable());
      const share = waiting.of(disclosure.tenantId);
      if (share.count >= tenantLimit) return Promise.reject(tooManyOfTenant());
      const chunk = queue.write(toRowText(disclosure), share);
      if (gathered?.chunk !== chunk) gathered = gather(chunk);
      return gathered.kept;
    },
  };
}

const sizeOf = ({ row }: Waiting) => Buffer.byteLength(row) + 1;

function tooManyOfTenant(): ServiceError {
  const detail = 'The queue of this Tenant for the audit log is full, so no value was revealed; try again later';
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1, limit: 'disclosures_waiting' });
}

function unavailable(cause?: unknown): ServiceError {
  return new ServiceError(
    'unavailable',
    'The audit log cannot be written at the moment, so no value was revealed; try again later',
    {
      retryAfterSeconds: 1,
      ...(cause !== undefined && { cause }),
    },
  );
}

/** Halves a refused batch until each refused row is alone. @returns the refused rows, each as a range of one. */
async function insertAccepted<Segment>(
  rows: RowRange<Segment>,
  insert: (rows: RowRange<Segment>) => Promise<void>,
): Promise<{ refused: RowRange<Segment>[]; reason?: unknown }> {
  try {
    await insert(rows);
    return { refused: [] };
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    if (rows.length === 1) return { refused: [rows], reason: error };
  }
  const middle = rows.length >> 1;
  const first = await insertAccepted(rows.slice(0, middle), insert);
  const second = await insertAccepted(rows.slice(middle), insert);
  return { refused: [...first.refused, ...second.refused], reason: first.reason ?? second.reason };
}

/** SQLSTATE classes about rows: data exceptions, constraints, functions and triggers, limits. */
const aboutRows = new Set(['22', '23', 'P0', '54']);

function isAboutRows(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.length === 5 && aboutRows.has(code.slice(0, 2));
}
