/** What runs in each thread of the pool. Its functions are called by name, one task at a time. */
import './give-way.ts';
import { MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import type { CompileError } from '../transform-task.ts';
import { threadCpuMs } from './budget.ts';
import { openContexts } from './contexts.ts';
import { newGarbage } from './garbage.ts';
import { Guest } from './guest.ts';
import { readGuestSources } from './guest-sources.ts';
import { type Invocation, receive, startInvocation } from './invocation.ts';
import type { HostAnswer, HostCall, Numbered, RunTask, ThreadSettings, ThreadStarted } from './messages.ts';
import { parseModule, placeInCode } from './module-code.ts';
import type { TaskAnswer } from './outcome.ts';
import { newInstance } from './quickjs.ts';
import { openTaskMark } from './task-mark.ts';
import { readError } from './thrown.ts';

const settings = workerData as ThreadSettings;
const sources = readGuestSources();
const garbage = newGarbage();
const discard = (guest: Guest) => garbage.add(guest.memory().bytes);
const contexts = openContexts(discard);
const { port1: hostCalls, port2 } = new MessageChannel();
const mark = openTaskMark();
let current: { hostKey: string | undefined; invocation: Invocation } | undefined;

process.noDeprecation = true;
const started: ThreadStarted = { threadId, hostCalls: port2, markMemory: mark.memory };
parentPort?.postMessage(started, [port2]);
hostCalls.on('message', (answer: HostAnswer) => {
  if (current && answer.hostKey === current.hostKey) receive(current.invocation, answer);
});

/** Runs a transform once. */
export async function run({ taskNumber, task }: Numbered<RunTask>): Promise<TaskAnswer> {
  mark.begin(taskNumber, threadCpuMs());
  const answer = await runGuest(task);
  garbage.collect();
  return answer;
}

async function runGuest(task: RunTask): Promise<TaskAnswer> {
  const entry = (task.once ? undefined : contexts.take(task)) ?? {
    code: task.code,
    guest: await Guest.open(settings, sources),
    uses: 0,
  };
  const invocation = startInvocation(settings.limits, (id, operation, payloadJson) => {
    const { hostKey } = task;
    if (hostKey !== undefined) hostCalls.postMessage({ hostKey, id, operation, payloadJson } satisfies HostCall);
  });
  current = { hostKey: task.hostKey, invocation };
  const reusable = await entry.guest.run(task, invocation);
  current = undefined;
  if (reusable && !task.once) contexts.keep(task, entry);
  else discard(entry.guest);
  return {
    outcome: invocation.outcome ?? { kind: 'stopped', by: 'crashed' },
    cpuMs: invocation.budget.cpuMs(),
    console: invocation.console,
  };
}

/** Only parses: undefined, or what is wrong and where. */
export async function compile({ taskNumber, task: code }: Numbered<string>): Promise<CompileError | undefined> {
  mark.begin(taskNumber, threadCpuMs());
  const { runtime, context } = await newInstance(settings.quickjs, settings.limits.heapBytes);
  runtime.setMemoryLimit(settings.limits.heapBytes);
  runtime.setMaxStackSize(settings.limits.stackBytes);
  const parsed = parseModule(context, code);
  if (!parsed.error) return undefined;
  const outcome = readError(context, parsed.error);
  const failure = outcome.kind === 'thrown' && outcome.failure.kind === 'error' ? outcome.failure : undefined;
  const place = placeInCode(failure?.stack ?? '') ?? { line: 1, column: 1 };
  const lines = code.split('\n').length;
  return {
    message: `${failure?.name ?? 'Error'}: ${failure?.message ?? 'the code is too large'}`,
    ...place,
    line: Math.min(place.line, lines),
  };
}
