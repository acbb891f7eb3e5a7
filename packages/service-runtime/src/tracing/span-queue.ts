import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

export interface SpanQueueOptions {
  exporter: SpanExporter;
  onFailure: (error: Error | undefined) => void;
  maxSpans?: number;
  maxBatch?: number;
  intervalMs?: number;
}

export interface SpanCounts {
  exported: number;
  failed: number;
  dropped: number;
}

/** Counts spans that it drops while the collector is away or slow, which the SDK's own processor does not do. */
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

  async forceFlush(): Promise<void> {
    await this.#sending;
    await this.#send();
  }

  /** Counts spans that are not yet sent as dropped. */
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
      return; // retried at the next interval
    }
  }

  #export(batch: ReadableSpan[]): Promise<{ error: Error | undefined } | undefined> {
    return new Promise<{ error: Error | undefined } | undefined>((resolve) => {
      this.#options.exporter.export(batch, ({ code, error }) => {
        resolve(code === 0 ? undefined : { error }); // ExportResultCode.SUCCESS
      });
      // An exception of the exporter counts as a failure too, because nothing else would report it.
    }).catch((thrown: unknown) => ({ error: thrown instanceof Error ? thrown : undefined }));
  }
}
