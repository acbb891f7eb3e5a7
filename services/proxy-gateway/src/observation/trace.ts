import type { IncomingMessage } from 'node:http';
import type { TransformUsage } from '@sluice/sandbox';
import type { OpenSpan, SpanFacts, Tracing } from '@sluice/service-runtime';
import { withoutHeaders } from '../http/header-list.ts';
import type { HeaderList } from '../http/message.ts';
import type { Stage, StageClock } from './stage-clock.ts';

interface Stretch {
  stage: Stage;
  startedAt: number;
  endedAt: number;
}

interface InvocationFacts extends SpanFacts {
  destinationStatus: number | undefined;
}

/** The span of an invocation. Its child spans are made from the stage clock when the answer has been sent. */
export interface InvocationTrace {
  readonly traceId: string;
  ranTransform(usage: TransformUsage): void;
  /** Adds the header that makes the destination's spans part of this trace. */
  tell(callHeaders: HeaderList): HeaderList;
  end(facts: InvocationFacts): void;
}

export function beginInvocationTrace(
  tracing: Tracing,
  { method, headers }: IncomingMessage,
  clock: StageClock,
): InvocationTrace {
  const span = tracing.beginRequest('invocation', headers.traceparent);
  const stretches: Stretch[] = [];
  const runs: { startedAt: number; endedAt: number; cpuMs: number | undefined }[] = [];
  if (span.isSent) clock.onLeave = noteStretch;

  function noteStretch(stage: Stage, startedAt: number, endedAt: number): void {
    const last = stretches.at(-1);
    if (last?.stage === stage && last.endedAt === startedAt) last.endedAt = endedAt;
    else stretches.push({ stage, startedAt, endedAt });
  }

  return {
    traceId: span.traceId,
    ranTransform({ cpuMs, durationMs }) {
      const endedAt = performance.now();
      runs.push({ startedAt: endedAt - durationMs, endedAt, cpuMs });
    },
    tell: (callHeaders) => [
      // If our span does not continue the caller's trace, its `tracestate` does not belong to it.
      ...withoutHeaders(callHeaders, 'traceparent', ...(continues(span, headers) ? [] : ['tracestate'])),
      'traceparent',
      span.traceparent,
    ],
    end({ destinationStatus, ...facts }) {
      let hasCalled = false;
      for (const { stage, ...times } of stretches) {
        const isCall = stage === 'destination';
        const calledFacts = isCall ? { status: destinationStatus } : {};
        const child = span.addChild(nameOf(stage, hasCalled), { ...times, isCall, facts: calledFacts });
        hasCalled ||= isCall;
        if (stage !== 'transform') continue;
        for (const { cpuMs, ...run } of runs) {
          if (run.endedAt < times.startedAt || run.endedAt > times.endedAt) continue;
          child.addChild('transform thread', { ...run, facts: { cpuMs } });
        }
      }
      span.end({ ...facts, method });
    },
  };
}

function nameOf(stage: Stage, hasCalled: boolean): string {
  if (stage !== 'transform') return stage;
  return hasCalled ? 'response transform' : 'request transform';
}

function continues({ traceId }: OpenSpan, { traceparent }: IncomingMessage['headers']): boolean {
  return typeof traceparent === 'string' && traceparent.includes(traceId);
}
