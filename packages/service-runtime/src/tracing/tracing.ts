import type { Registry } from 'prom-client';
import type { Logger } from '../logger.ts';
import type { SpanFacts } from './span-facts.ts';

/** Times are those of `performance.now()`. */
export interface OpenSpan {
  /** 32 hexadecimal digits, whether the span is sent or not. */
  readonly traceId: string;
  readonly isSent: boolean;
  /** The W3C header that makes another span its child. */
  readonly traceparent: string;
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
  /** `traceparent` of the cause. */
  causedBy?: string | undefined;
}

/** A process whose traces are off has none, and does not load OpenTelemetry. */
export interface Tracing {
  /** Continues the caller's trace, but decides itself whether to send it, so callers cannot have all of them sent. */
  beginRequest(name: string, traceparent: string | string[] | undefined): OpenSpan;
  /** Spans that `work` begins are children of this span. */
  runIn<T>(span: OpenSpan, work: () => T): T;
  /** In a child of the current span, or in a new trace. */
  inSpan<T>(name: string, work: () => Promise<T>, options?: SpanOptions): Promise<T>;
  /** In a child of the current span, or without a span if there is none. */
  inPart<T>(name: string, work: () => Promise<T>): Promise<T>;
  current(): OpenSpan | undefined;
}

export interface TracingOptions {
  service: string;
  version: string;
  endpoint: string;
  headers: string | undefined;
  ratio: number;
  log: Logger;
  metrics: Registry;
  stack: AsyncDisposableStack;
  /** Time limit for sending the last spans at a stop. */
  flushMs: number;
}
