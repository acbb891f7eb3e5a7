import type { SpanFacts } from './span-facts.ts';

/** A span that has begun. Moments are those of `performance.now()`. */
export interface OpenSpan {
  /** 32 hexadecimal digits, whether it is sent or not. */
  readonly traceId: string;
  /** Whether it and its parts are sent. */
  readonly isSent: boolean;
  /** The W3C header that makes another span its child. */
  readonly traceparent: string;
  /** Adds a part of it that is over. */
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
  /** The `traceparent` of what caused it. */
  causedBy?: string | undefined;
}

/** Makes spans. A process whose traces are off has none, and has loaded nothing of OpenTelemetry. */
export interface Tracing {
  /**
   * A request from outside. It goes on with the trace that the caller named, if that is one; whether it is sent we
   * decide ourselves, so that nobody can have us send everything.
   */
  beginRequest(name: string, traceparent: string | string[] | undefined): OpenSpan;
  /** What `work` begins is part of this span. */
  runIn<T>(span: OpenSpan, work: () => T): T;
  /** A span around work: part of the current one, or a trace of its own. */
  inSpan<T>(name: string, work: () => Promise<T>, options?: SpanOptions): Promise<T>;
  /** A part of the current span; where there is none, only the work is done. */
  inPart<T>(name: string, work: () => Promise<T>): Promise<T>;
  current(): OpenSpan | undefined;
}
