/** The worker of each thread. Piscina calls its default function, for one task at a time. */
import './give-way.ts';
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { giveBackLargeHeap } from '../large-heaps.ts';
import type { CompileError } from '../transform-task.ts';
import { withAbsentClientNamed } from './absent-client.ts';
import { budgetFrom, threadCpuMs } from './budget.ts';
import { Contexts } from './contexts.ts';
import { Garbage } from './garbage.ts';
import { Guest } from './guest.ts';
import { readGuestSources } from './guest-sources.ts';
import { abort, end, type Invocation, invocationFrom, receive } from './invocation.ts';
import { readBody } from './message/read-body.ts';
import { withMessageWritten } from './message/write-outcome.ts';
import type {
  BatchTask,
  GiveBackTask,
  HostAnswer,
  HostCall,
  RunAborted,
  RunInput,
  ThreadAnswer,
  ThreadSettings,
  ThreadStarted,
} from './messages.ts';
import { parseModule, placeInCode } from './module-code.ts';
import type { Outcome, RunAnswer } from './outcome.ts';
import { instantiate, memoryOf } from './quickjs.ts';
import { readSyntaxError } from './syntax.ts';

/** CPU time after which a batch returns its later runs, so that they do not wait for this thread. */
const longestBatchMs = 10;

const settings = workerData as ThreadSettings;
const sources = readGuestSources();
/** A body is in memory as received, as text, inside QuickJS, and as sent. */
const copiesOfBody = 4;
const garbage = new Garbage();
const discard = (guest: Guest) => garbage.add(guest.memory().bytes);
const contexts = new Contexts(discard);
const { port1: hostCalls, port2 } = new MessageChannel();
let current: { hostKey: string | undefined; invocation: Invocation } | undefined;

process.noDeprecation = true;
const started: ThreadStarted = { hostCalls: port2, cpuMs: threadCpuMs() };
parentPort?.postMessage(started, [port2]);
hostCalls.on('message', (message: HostAnswer | RunAborted) => {
  if (!current || message.hostKey !== current.hostKey) return;
  if ('isAborted' in message) abort(current.invocation);
  else receive(current.invocation, message);
});

export async function answer(task: BatchTask | GiveBackTask): Promise<ThreadAnswer> {
  const answered = 'keepBytes' in task ? giveBack(task) : await answerBatch(task);
  garbage.collect();
  giveBackLargeHeap(settings.largeHeap);
  return { ...answered, cpuMs: threadCpuMs(), warmBytes: contexts.bytes() };
}

function giveBack({ keepBytes }: GiveBackTask): Pick<ThreadAnswer, 'answers'> {
  contexts.shrinkTo(keepBytes);
  return { answers: [] };
}

async function answerBatch(task: BatchTask): Promise<Pick<ThreadAnswer, 'answers' | 'error'>> {
  const answered = await (task.parseOnly ? parse(task.code) : runBatch(task)).then(
    (answers) => ({ answers }),
    (error: unknown) => ({ answers: [], error }),
  );
  for (const { message } of task.runs) garbage.add(copiesOfBody * (message?.body.byteLength ?? 0));
  return answered;
}

/** Ends after a long run, and after one that acted through its client, so that no later run can destroy its result. */
async function runBatch(task: BatchTask): Promise<RunAnswer[]> {
  const answers: RunAnswer[] = [];
  let entry = task.once ? undefined : contexts.take(task);
  let cpuMs = threadCpuMs();
  let usedMs = 0;
  for (const input of task.runs) {
    if (!entry) {
      const { code, configurationJson } = task;
      entry = { code, configurationJson, guest: await Guest.open(task.kind, { ...settings, sources }), uses: 0 };
      cpuMs = threadCpuMs(); // The start of an instance is not the code's time.
    }
    const { answer, isReusable } = await runGuest(entry.guest, task, input, cpuMs);
    answers.push(answer);
    cpuMs += answer.cpuMs;
    usedMs += answer.cpuMs;
    entry.uses += 1;
    if (!isReusable || task.once) {
      discard(entry.guest);
      return answers;
    }
    if (answer.hostCalls > 0 || usedMs > longestBatchMs) break;
  }
  if (!entry) return answers;
  entry.guest.endBatch();
  contexts.keep(task, entry);
  return answers;
}

async function runGuest(
  guest: Guest,
  { tenantId, kind, code, configurationJson, quickMs, wallMs }: BatchTask,
  { argsJson, message, hasClient, mayFetch, hostKey }: RunInput,
  cpuAtStart: number,
): Promise<{ answer: RunAnswer; isReusable: boolean }> {
  const send = (call: Omit<HostCall, 'hostKey'>) => {
    if (hostKey !== undefined) hostCalls.postMessage({ hostKey, ...call } satisfies HostCall);
  };
  const limits = { ...settings.limits, wallMs };
  const invocation = invocationFrom({ tenantId, limits, quickMs, mayFetch, send, cpuAtStart });
  current = { hostKey, invocation };
  const read = message && readBody(message);
  let isReusable = true;
  if (read && 'unreadable' in read)
    end(invocation, { kind: 'thrown', failure: { kind: 'unreadable', reason: read.unreadable } });
  else
    isReusable = await guest.run(
      { code, argsJson, ...(read && { bodyJson: read.json }), configurationJson, hasClient },
      invocation,
    );
  current = undefined;
  const outcome = withAbsentClientNamed(invocation.outcome ?? { kind: 'stopped', by: 'crashed' }, {
    kind,
    code,
    hasClient,
    headerPrefix: settings.headerPrefix,
  });
  const answer: RunAnswer = {
    outcome: withMessageWritten(outcome, read && 'decoded' in read ? read.decoded : undefined),
    cpuMs: invocation.budget.cpuMs(),
    durationMs: invocation.budget.wallMs(),
    hostCalls: invocation.hostCalls,
    isCut: invocation.isCut,
    console: invocation.console,
  };
  return { answer, isReusable };
}

/** The answer has a body if the code is not well-formed: a {@link CompileError}. */
async function parse(code: string): Promise<RunAnswer[]> {
  const budget = budgetFrom(settings.limits);
  const instance = await instantiate(settings.quickjs, settings.limits.heapBytes);
  const { runtime, context } = instance;
  try {
    runtime.setMemoryLimit(settings.limits.heapBytes);
    runtime.setMaxStackSize(settings.limits.stackBytes);
    const parsed = parseModule(context, code);
    const bodyJson = parsed.error && JSON.stringify(toCompileError(readSyntaxError(context, parsed.error, code)));
    const outcome = { kind: 'result', bodyJson, headersJson: undefined } as const;
    return [{ outcome, cpuMs: budget.cpuMs(), durationMs: budget.wallMs(), hostCalls: 0, isCut: false, console: [] }];
  } finally {
    garbage.add(memoryOf(instance).bytes);
  }
}

function toCompileError(outcome: Outcome): CompileError {
  const failure = outcome.kind === 'thrown' && outcome.failure.kind === 'error' ? outcome.failure : undefined;
  const place = placeInCode(failure?.stack ?? '') ?? { line: 1, column: 1 };
  return { message: `${failure?.name ?? 'Error'}: ${failure?.message ?? 'the code is too large'}`, ...place };
}
