import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

export interface SpanQueueOptions {
  exporter: SpanExporter;
  /** Told of batches that the collector did not take. */
  onFailure: (error: Error | undefined) => void;
  maxSpans?: number;
  maxBatch?: number;
  intervalMs?: number;
}

/** What became of the spans that ended. */
export interface SpanCounts {
  exported: number;
  /** The collector did not take them. */
  failed: number;
  /** The queue was full. */
  dropped: number;
}

/**
 * Holds spans until they are sent, one batch at a time. It is bounded: while the collector is away or slow, what does
 * not fit is dropped and counted. The SDK's own processor does not count.
 */
export class SpanQueue implements SpanProcessor {
  readonly counts: SpanCounts = { exported: 0, failed: 0, dropped: 0 };
  readonly #options: Required<SpanQueueOptions>;
  readonly #timer: NodeJS.Timeout;
  #spans: ReadableSpan[] = [];
  #sending: Promise<void> | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = { maxSpans: 2048, maxBatch: 512, intervalMs: 1000, ...options };
    this.#timer = setInterval(() => void this.#send(), this.#options.intervalMs).unref();
  }

  get length(): number {
    return this.#spans.length;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#spans.length >= this.#options.maxSpans) this.counts.dropped += 1;
    else this.#spans.push(span);
    if (this.#spans.length >= this.#options.maxBatch) void this.#send();
  }

  /** Sends what there is. */
  async forceFlush(): Promise<void> {
    await this.#sending;
    await this.#send();
  }

  /** What has not been sent by then counts as dropped. */
  async shutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.counts.dropped += this.#spans.length;
    this.#spans = [];
    await this.#options.exporter.shutdown();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#spans.length > 0) {
      const batch = this.#spans.splice(0, this.#options.maxBatch);
      const failure = await this.#export(batch);
      if (!failure) {
        this.counts.exported += batch.length;
        continue;
      }
      this.counts.failed += batch.length;
      this.#options.onFailure(failure.error);
      return; // the next try is at the next interval
    }
  }

  #export(batch: ReadableSpan[]): Promise<{ error: Error | undefined } | undefined> {
    return new Promise<{ error: Error | undefined } | undefined>((resolve) => {
      this.#options.exporter.export(batch, ({ code, error }) => {
        resolve(code === 0 ? undefined : { error }); // ExportResultCode.SUCCESS
      });
      // What it throws while it writes a batch down is a failure as well: nobody else would hear of it
    }).catch((thrown: unknown) => ({ error: thrown instanceof Error ? thrown : undefined }));
  }
}
