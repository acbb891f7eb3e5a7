import type { TransformLimits } from '../limits.ts';
import type { ConsoleLine } from '../transform-task.ts';
import { type Budget, budgetFrom } from './budget.ts';
import type { HostAnswer, HostCall } from './messages.ts';
import type { Outcome, Stop } from './outcome.ts';

type SendCall = (call: Omit<HostCall, 'hostKey'>) => void;

export interface Invocation {
  readonly tenantId: string;
  readonly budget: Budget;
  readonly limits: TransformLimits;
  readonly quickMs: number;
  readonly send: SendCall;
  readonly console: ConsoleLine[];
  consoleBytesLeft: number;
  /** Calls of its client and of `fetch`. */
  hostCalls: number;
  /** State of its calls of `fetch` by id, also of those that have ended. */
  readonly fetches: Map<number, 'begun' | 'reading' | 'aborted'>;
  /** Bytes of the bodies of its calls of `fetch` that have no answer yet, by id. */
  readonly openBodies: Map<number, number>;
  readonly mayFetch: boolean;
  /** UTF-16 units that its calls may still send to the main thread, see {@link payloadUnits}. */
  payloadUnitsLeft: number;
  awaitedCalls: number;
  readonly answers: HostAnswer[];
  wake: () => void;
  outcome: Outcome | undefined;
  /** True even if the run has an outcome. */
  isCut: boolean;
  /** It waited for memory in vain, and gets no more. */
  isShortOfMemory: boolean;
}

export interface InvocationOptions {
  tenantId?: string;
  limits: TransformLimits;
  quickMs?: number | undefined;
  mayFetch?: boolean;
  send: SendCall;
  cpuAtStart?: number;
}

export function invocationFrom(options: InvocationOptions): Invocation {
  const { tenantId = '', limits, quickMs, mayFetch = false, send, cpuAtStart } = options;
  return {
    tenantId,
    budget: budgetFrom(limits, cpuAtStart),
    limits,
    quickMs: quickMs ?? Number.POSITIVE_INFINITY,
    send,
    console: [],
    consoleBytesLeft: limits.consoleBytes,
    hostCalls: 0,
    fetches: new Map(),
    openBodies: new Map(),
    mayFetch,
    payloadUnitsLeft: limits.outputBytes,
    awaitedCalls: 0,
    answers: [],
    wake: () => {},
    outcome: undefined,
    isCut: false,
    isShortOfMemory: false,
  };
}

/** Keeps an earlier outcome, because code can change nothing after its result or a stop. */
export function end(invocation: Invocation, outcome: Outcome): void {
  invocation.outcome ??= outcome;
}

export function stop(invocation: Invocation, by: Stop): void {
  end(invocation, { kind: 'stopped', by });
}

/** If it computes, it goes on until it waits. */
export function abort(invocation: Invocation): void {
  end(invocation, { kind: 'aborted' });
  invocation.wake();
}

export function receive(invocation: Invocation, answer: HostAnswer): void {
  invocation.openBodies.delete(answer.id);
  invocation.answers.push(answer);
  invocation.wake();
}

/** Waits at most this long, and never beyond the run's time. */
export async function nextAnswer(invocation: Invocation, mostMs = Number.POSITIVE_INFINITY): Promise<void> {
  if (invocation.answers.length > 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(Math.min(invocation.budget.wallLeftMs(), mostMs), 0));
  invocation.wake = resolve;
  await promise;
  clearTimeout(timer);
  invocation.wake = () => {};
}
