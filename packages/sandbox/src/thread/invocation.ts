import type { TransformLimits } from '../limits.ts';
import type { ConsoleLine } from '../transform-task.ts';
import { type Budget, startBudget } from './budget.ts';
import type { BatchTask, HostAnswer } from './messages.ts';
import type { Outcome, Stop } from './outcome.ts';

/** Sends a call of the client to the main thread. */
type SendCall = (id: number, operation: string, payloadJson: string) => void;

/** The state of one run of a transform. Nothing of it outlives the run. */
export interface Invocation {
  readonly budget: Budget;
  readonly limits: TransformLimits;
  /** See {@link BatchTask}. */
  readonly quickMs: number;
  readonly send: SendCall;
  readonly console: ConsoleLine[];
  consoleBytesLeft: number;
  hostCalls: number;
  /** UTF-16 units that its calls may still send to the main thread, which parses them. */
  payloadUnitsLeft: number;
  awaitedCalls: number;
  readonly answers: HostAnswer[];
  /** Called when an answer arrives. */
  wake: () => void;
  outcome: Outcome | undefined;
  /** Whether its code was stopped in the middle, whatever the outcome. */
  isCut: boolean;
}

export interface InvocationOptions {
  limits: TransformLimits;
  quickMs?: number | undefined;
  send: SendCall;
  /** The CPU time of the thread when the run begins, where the caller knows it. */
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

/** Sets the outcome, unless there is one: after its answer or a stop, code changes nothing. */
export function end(invocation: Invocation, outcome: Outcome): void {
  invocation.outcome ??= outcome;
}

export function stop(invocation: Invocation, by: Stop): void {
  end(invocation, { kind: 'stopped', by });
}

/** Takes an answer of the main thread to a call of the client. */
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
