import { ConnectionError, type Invocation, type Sluice, SluiceError } from '@sluice/sdk';

type Watch = Sluice['invocations']['watch'];

export interface LiveRow extends Invocation {
  /** Of the event. */
  id: string;
}

/** What the page shows. */
export interface LiveView {
  state: 'connecting' | 'live' | 'lost' | 'failed';
  /** Newest first. */
  rows: readonly LiveRow[];
  /** Number of invocations received since the page was paused. */
  waiting: number;
  /** Number of received invocations that are not shown, because the service left them out or too many came at once. */
  skipped: number;
  isPaused: boolean;
  error?: Error | undefined;
}

/** More rows would make a busy page slow, and nobody reads them. */
export const mostRows = 200;
const firstRows = 100;
/** New rows are shown together, so that a busy stream does not redraw the page for each. */
const showEveryMs = 300;
const tryAgainMs = 2_000;

/**
 * Follows the stream of invocations. Reopens it when it ends, as it does after an hour and when its service stops. Keeps only the
 * newest rows. While it is paused, new rows are collected but not shown.
 */
export class LiveInvocations {
  readonly #watch: Watch;
  readonly #listeners = new Set<() => void>();
  #view: LiveView = { state: 'connecting', rows: [], waiting: 0, skipped: 0, isPaused: false };
  /** Newest last. */
  #coming: LiveRow[] = [];
  #skipped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(watch: Watch) {
    this.#watch = watch;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly view = (): LiveView => this.#view;

  /** Runs until the signal aborts, or the service refuses the stream. */
  async follow(query: NonNullable<Parameters<Watch>[0]>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#read(query, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof SluiceError) || !isPassing(error))
          return this.#show({ state: 'failed', error: error as Error });
        this.#show({ state: 'lost' });
        await pause(tryAgainMs, signal);
      }
    }
  }

  setPaused(isPaused: boolean): void {
    this.#show({ isPaused });
    this.#flush();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #read(query: NonNullable<Parameters<Watch>[0]>, signal: AbortSignal): Promise<void> {
    const onHeaders = () => this.#show({ state: 'live', error: undefined });
    for await (const event of this.#watch({ ...query, size: firstRows }, { signal, onHeaders })) {
      if (event.event === 'skipped') this.#skipped += event.data.skipped;
      else if (!this.#has(event.id)) this.#coming.push({ ...event.data, id: event.id });
      this.#timer ??= setTimeout(() => this.#flush(), showEveryMs);
    }
  }

  /** Whether this row has come before. A reopened stream begins with rows of the former one. */
  #has(id: string): boolean {
    return this.#coming.some((row) => row.id === id) || this.#view.rows.some((row) => row.id === id);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const tooMany = Math.max(0, this.#coming.length - mostRows);
    this.#coming.splice(0, tooMany);
    this.#skipped += tooMany;
    if (this.#view.isPaused) {
      this.#show({ waiting: this.#coming.length + this.#skipped });
      return;
    }
    const rows = [...this.#coming.reverse(), ...this.#view.rows].slice(0, mostRows);
    this.#show({ rows, waiting: 0, skipped: this.#view.skipped + this.#skipped });
    this.#coming = [];
    this.#skipped = 0;
  }

  #show(change: Partial<LiveView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Whether to reopen the stream. If its right has ended, the new stream is refused, and that error is final. */
function isPassing(error: SluiceError): boolean {
  return error instanceof ConnectionError || (error.status ?? 0) >= 500;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
