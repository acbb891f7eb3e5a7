import type { SpanFacts } from './span-facts.ts';

/** A span in progress. Times are those of `performance.now()`. */
export interface OpenSpan {
  /** 32 hexadecimal digits, whether it is sent or not. */
  readonly traceId: string;
  /** Whether the span and its children are sent. */
  readonly isSent: boolean;
  /** The W3C header that makes another span its child. */
  readonly traceparent: string;
  /** Adds a child span that has ended. */
  addChild(name: string, child: FinishedSpan): OpenSpan;
  end(facts?: SpanFacts, ending?: { name?: string; at?: number }): void;
}

export interface FinishedSpan {
  startedAt: number;
  endedAt: number;
  facts?: SpanFacts;
  isCall?: boolean;
}

export interface SpanOptions {
  facts?: SpanFacts;
  /** The `traceparent` of the cause. */
  causedBy?: string | undefined;
}

/** Makes spans. A process whose traces are off has none, and does not load OpenTelemetry. */
export interface Tracing {
  /**
   * Begins the span of an incoming request. It continues the caller's trace if there is one, but decides itself whether
   * to send it, so that a caller cannot have everything sent.
   */
  beginRequest(name: string, traceparent: string | string[] | undefined): OpenSpan;
  /** Spans that `work` begins are children of this span. */
  runIn<T>(span: OpenSpan, work: () => T): T;
  /** Runs work in a span: a child of the current one, or a new trace. */
  inSpan<T>(name: string, work: () => Promise<T>, options?: SpanOptions): Promise<T>;
  /** Runs work in a child of the current span; without a current span, just runs it. */
  inPart<T>(name: string, work: () => Promise<T>): Promise<T>;
  current(): OpenSpan | undefined;
}
