import type { TransformLimits } from '../limits.ts';
import type { ConsoleLine } from '../transform-task.ts';
import { type Budget, startBudget } from './budget.ts';
import type { BatchTask, HostAnswer } from './messages.ts';
import type { Outcome, Stop } from './outcome.ts';

/** Sends a call of the client to the main thread. */
type SendCall = (id: number, operation: string, payloadJson: string) => void;

/** What one run of a transform has at hand and leaves behind. Nothing of it outlives the run. */
export interface Invocation {
  readonly budget: Budget;
  readonly limits: TransformLimits;
  /** See {@link BatchTask}. */
  readonly quickMs: number;
  readonly send: SendCall;
  readonly console: ConsoleLine[];
  consoleBytesLeft: number;
  hostCalls: number;
  /** UTF-16 units that its calls may still hand to the main thread, which parses them. */
  payloadUnitsLeft: number;
  awaitedCalls: number;
  readonly answers: HostAnswer[];
  /** Called when an answer arrives. */
  wake: () => void;
  outcome: Outcome | undefined;
  /** Its code was stopped in the middle, whatever the outcome. */
  isCut: boolean;
}

export interface InvocationOptions {
  limits: TransformLimits;
  quickMs?: number | undefined;
  send: SendCall;
  /** CPU time of the thread when it begins, where that is known. */
  cpuAtStart?: number;
}

export function startInvocation({ limits, quickMs, send, cpuAtStart }: InvocationOptions): Invocation {
  return {
    budget: startBudget(limits, cpuAtStart),
    limits,
    quickMs: quickMs ?? Number.POSITIVE_INFINITY,
    send,
    console: [],
    consoleBytesLeft: limits.consoleBytes,
    hostCalls: 0,
    payloadUnitsLeft: limits.outputBytes,
    awaitedCalls: 0,
    answers: [],
    wake: () => {},
    outcome: undefined,
    isCut: false,
  };
}

/** The first outcome counts: what code does after it has answered, or was stopped, changes nothing. */
export function end(invocation: Invocation, outcome: Outcome): void {
  invocation.outcome ??= outcome;
}

export function stop(invocation: Invocation, by: Stop): void {
  end(invocation, { kind: 'stopped', by });
}

/** An answer of the main thread arrived. */
export function receive(invocation: Invocation, answer: HostAnswer): void {
  invocation.answers.push(answer);
  invocation.wake();
}

/** Resolves when an answer has arrived or the wall clock ran out. */
export async function nextAnswer(invocation: Invocation): Promise<void> {
  if (invocation.answers.length > 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(invocation.budget.wallLeftMs(), 0));
  invocation.wake = resolve;
  await promise;
  clearTimeout(timer);
  invocation.wake = () => {};
}
