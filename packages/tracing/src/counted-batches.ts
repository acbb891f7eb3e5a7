import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';

export interface SpanCounts {
  exported: number;
  failed: number;
  dropped: number;
}

type ReportResult = Parameters<SpanExporter['export']>[1];

const maxQueueSize = 2048;

/** Counts the outcomes of spans in the SDK's batch processor, whose own figures are an experimental interface. */
export class CountedBatches implements SpanProcessor {
  readonly counts: SpanCounts = { exported: 0, failed: 0, dropped: 0 };
  /** Spans that the processor has not yet given to its exporter. */
  waiting = 0;
  readonly #exporter: SpanExporter;
  readonly #onFailure: (error: Error | undefined) => void;
  readonly #batches: BatchSpanProcessor;

  constructor(exporter: SpanExporter, onFailure: (error: Error | undefined) => void) {
    this.#exporter = exporter;
    this.#onFailure = onFailure;
    this.#batches = new BatchSpanProcessor({
      exporter: { export: this.#export, shutdown: () => exporter.shutdown() },
      maxQueueSize,
      scheduledDelayMillis: 1000,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.waiting < maxQueueSize) this.waiting += 1;
    else this.counts.dropped += 1;
    this.#batches.onEnd(span);
  }

  /** Never rejects, because a failure has been reported to `onFailure` by then. */
  async forceFlush(): Promise<void> {
    await this.#batches.forceFlush().catch(() => undefined);
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  readonly #export = (spans: ReadableSpan[], report: ReportResult): void => {
    this.waiting -= spans.length;
    const settle: ReportResult = (result) => {
      const hasFailed = result.code !== 0; // ExportResultCode.SUCCESS
      this.counts[hasFailed ? 'failed' : 'exported'] += spans.length;
      if (hasFailed) this.#onFailure(result.error);
      report(result);
    };
    try {
      this.#exporter.export(spans, settle);
    } catch (error) {
      settle({ code: 1, error: error instanceof Error ? error : new Error(String(error)) });
    }
  };
}
