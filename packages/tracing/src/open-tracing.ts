import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TimeInput,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { parseKeyPairsIntoRecord, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type Sampler, SamplingDecision, TracerProvider } from '@opentelemetry/sdk-trace';
import {
  errorCodeOf,
  exportCounter,
  exportGauge,
  type FinishedSpan,
  type Logger,
  type OpenSpan,
  type SpanFacts,
  type SpanOptions,
  type Tracing,
  type TracingOptions,
  toAttributes,
} from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import { CountedBatches } from './counted-batches.ts';

const exportTimeoutMs = 5000;
const complaintIntervalMs = 60_000;

/** Closing the stack sends the last spans. */
export function open(options: TracingOptions): Tracing {
  const batches = new CountedBatches(exporterFor(options), complainer(options.log));
  measureSpans(batches, options.metrics);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.namespace': 'sluice',
      'service.name': options.service,
      'service.version': options.version,
      'service.instance.id': randomUUID(),
    }),
    sampler: ownSampler(options.ratio),
    spanProcessors: [batches],
  });
  options.stack.defer(() => closeWithin(options.flushMs, batches));
  const tracer = provider.getTracer('sluice');
  const active = new AsyncLocalStorage<OpenSpan>();

  function begin(name: string, context: Context, kind: SpanKind, causedBy?: string): OpenSpan {
    const cause = causedBy === undefined ? null : parseTraceParent(causedBy);
    const links = cause ? [{ context: cause }] : [];
    // Compared for each span, because wall clock and monotonic clock drift apart.
    const toEpochMs = Date.now() - performance.now();
    const startTime: TimeInput = performance.now() + toEpochMs;
    return toOpenSpan(tracer.startSpan(name, { kind, links, startTime }, context), toEpochMs);
  }

  function toOpenSpan(span: Span, toEpochMs: number): OpenSpan {
    const { traceId, spanId, traceFlags } = span.spanContext();
    const isSent = (traceFlags & TraceFlags.SAMPLED) !== 0;
    const opened: OpenSpan = {
      traceId,
      isSent,
      traceparent: `00-${traceId}-${spanId}-${isSent ? '01' : '00'}`,
      addChild(name: string, { startedAt, endedAt, facts, isCall = false }: FinishedSpan): OpenSpan {
        const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
        const startTime: TimeInput = startedAt + toEpochMs;
        const child = tracer.startSpan(name, { kind, startTime }, trace.setSpan(ROOT_CONTEXT, span));
        const openChild = toOpenSpan(child, toEpochMs);
        openChild.end(facts, { at: endedAt });
        return openChild;
      },
      end(facts: SpanFacts = {}, { name, at = performance.now() }: { name?: string; at?: number } = {}): void {
        if (name !== undefined) span.updateName(name);
        span.setAttributes(toAttributes(facts));
        const { status, errorCode } = facts;
        const hasFailed = status === undefined ? errorCode !== undefined : status >= 500;
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end(at + toEpochMs);
      },
    };
    spans.set(opened, span);
    return opened;
  }

  const spans = new WeakMap<OpenSpan, Span>();
  const contextOf = (parent: OpenSpan | undefined) => {
    const span = parent && spans.get(parent);
    return span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT;
  };

  async function inSpan<T>(name: string, work: () => Promise<T>, { facts, causedBy }: SpanOptions = {}): Promise<T> {
    const parent = active.getStore();
    const kind = causedBy === undefined ? SpanKind.INTERNAL : SpanKind.CONSUMER;
    const span = begin(name, contextOf(parent), kind, causedBy);
    try {
      const result = await active.run(span, work);
      span.end(facts);
      return result;
    } catch (error) {
      span.end({ ...facts, errorCode: errorCodeOf(error) });
      throw error;
    }
  }

  return {
    beginRequest(name, traceparent) {
      const remote = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
      const context = remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT;
      return begin(name, context, SpanKind.SERVER);
    },
    runIn: (span, work) => active.run(span, work),
    inSpan,
    inPart: (name, work) => (active.getStore() ? inSpan(name, work) : work()),
    current: () => active.getStore(),
  };
}

/** A child span follows its parent. Otherwise chance decides and not the trace id, because callers choose trace ids. */
function ownSampler(ratio: number): Sampler {
  return {
    shouldSample(context) {
      const parent = trace.getSpanContext(context);
      const isSampled =
        parent && parent.isRemote !== true ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : Math.random() < ratio;
      return { decision: isSampled ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
    },
    toString: () => `Own(${ratio})`,
  };
}

function exporterFor({ endpoint, headers }: TracingOptions): OTLPTraceExporter {
  return new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: parseKeyPairsIntoRecord(headers),
    timeoutMillis: exportTimeoutMs,
    // At a stop the four batches of a full queue are sent together, beside one that is under way.
    concurrencyLimit: 5,
  });
}

function complainer(log: Logger): (error: Error | undefined) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - saidAt < complaintIntervalMs) return;
    saidAt = performance.now();
    log.warn({ err: error }, 'the collector of traces takes no spans; they are dropped');
  };
}

/** Bounded, so that a hanging collector does not delay a stop. */
async function closeWithin(ms: number, batches: CountedBatches): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([batches.forceFlush(), late]);
  clearTimeout(timer);
  // Shutdown would wait for the exporter's own timeout.
  await Promise.race([batches.shutdown(), new Promise((done) => setTimeout(done, ms / 10))]);
}

function measureSpans(batches: CountedBatches, registry: Registry): void {
  exportCounter(registry, {
    name: 'sluice_trace_spans_total',
    help: 'Ended spans, by result. result="dropped" means that the queue was full',
    by: 'result',
    read: () => ({ ...batches.counts }),
  });
  exportGauge(registry, {
    name: 'sluice_trace_queue_spans',
    help: 'Spans that are waiting to be sent',
    read: () => batches.waiting,
  });
}
