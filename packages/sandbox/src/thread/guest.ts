import type { QuickJSHandle } from 'quickjs-emscripten';
import { type Bridge, openBridge } from './bridge/bridge.ts';
import { type Budget, startBudget } from './budget.ts';
import { guestFileLoader } from './guest-files.ts';
import { installHostFunctions } from './host-functions.ts';
import { end, type Invocation, nextAnswer, stop } from './invocation.ts';
import type { BatchTask, RunInput, ThreadSettings } from './messages.ts';
import { type Meter, RunEnded } from './meter.ts';
import { evaluateModule } from './module-code.ts';
import type { Outcome, Stop } from './outcome.ts';
import {
  type Crossing,
  type InstanceMemory,
  jobRunner,
  memoryOf,
  NoMemory,
  newInstance,
  openCrossing,
  type QuickJs,
  type RunJobs,
} from './quickjs.ts';
import { readSyntaxError } from './syntax.ts';
import { readError } from './thrown.ts';

/** Promise jobs between two looks at the budget. An interrupted job takes up to one round of QuickJS's counter. */
const jobsPerSlice = 32;
/** This many slices of jobs may still run after the answer, so that they do not run in the next invocation. */
const leftoverSlices = 8;
/** Only CPU time counts, because a thread may wait for a core through no fault of the code. */
const leftoverLimits = { cpuMs: 5, wallMs: Number.POSITIVE_INFINITY };

const exportedFunctions = ['define', 'invoke', 'deliver', 'fireTimer', 'reset'] as const;
type GuestFunction = (typeof exportedFunctions)[number];

type GuestRun = Omit<RunInput, 'message'> & Pick<BatchTask, 'code' | 'configurationJson'> & { bodyJson?: string };

/** A Tenant's transform in its own instance of QuickJS, which stays warm between runs. */
export class Guest {
  readonly #quickjs: QuickJs;
  readonly #meter: Meter = {
    spend: (aheadMs) => {
      if (this.#mustStop(aheadMs)) throw new RunEnded();
    },
    hold: (bytes) => this.#hold(bytes),
  };
  readonly #bridge: Bridge = openBridge(this.#meter);
  readonly #functions: Map<GuestFunction, QuickJSHandle>;
  readonly #runJobs: RunJobs;
  readonly #crossing: Crossing;
  readonly #noText: QuickJSHandle;
  readonly #clientName: QuickJSHandle;
  #configuration: { json: string; handle: QuickJSHandle } | undefined;
  #defined = false;
  #invocation: Invocation | undefined;
  #promise: QuickJSHandle | undefined;
  #leftover: Budget | undefined;

  private constructor(quickjs: QuickJs, sources: ReadonlyMap<string, string>, { headerPrefix }: ThreadSettings) {
    this.#quickjs = quickjs;
    const { context } = quickjs;
    this.#crossing = openCrossing(quickjs);
    this.#noText = context.newString('');
    this.#clientName = context.newString(headerPrefix);
    const load = guestFileLoader(quickjs, sources);
    installHostFunctions({
      context,
      crossing: this.#crossing,
      headerPrefix,
      bridge: this.#bridge,
      invocation: () => this.#runAsItIs(),
      load: (name) => load(this.#crossing.textOf(name)),
    });
    const main = context.unwrapResult(load('main'));
    this.#functions = new Map(exportedFunctions.map((name) => [name, context.getProp(main, name)]));
    this.#runJobs = jobRunner(quickjs);
  }

  /** Starts QuickJS with the guest's own files. The first run loads the transform, within its limits. */
  static async open(settings: ThreadSettings, sources: ReadonlyMap<string, string>): Promise<Guest> {
    const { quickjs, limits } = settings;
    const instance = await newInstance(quickjs, limits.heapBytes);
    const guest = new Guest(instance, sources, settings);
    instance.runtime.setMemoryLimit(limits.heapBytes);
    instance.runtime.setMaxStackSize(limits.stackBytes);
    instance.runtime.setInterruptHandler(() => guest.#mustStop());
    return guest;
  }

  memory(): InstanceMemory {
    return memoryOf(this.#quickjs);
  }

  /** Puts the outcome into the invocation. @returns whether the guest may be used again. */
  async run(run: GuestRun, invocation: Invocation): Promise<boolean> {
    this.#invocation = invocation;
    this.#leftover = undefined;
    try {
      if (!this.#defined) this.#define(run.code, invocation);
      if (!invocation.outcome) await this.#invoke(run, invocation);
      return this.#defined && !invocation.isCut && isReusable(invocation) && this.#finish(invocation);
    } catch (error) {
      end(invocation, { kind: 'stopped', by: stopOf(error) });
      return false;
    } finally {
      this.#bridge.clear();
      this.#promise = undefined;
      this.#invocation = undefined;
    }
  }

  /** QuickJS calls it while code runs, and native functions before they take `aheadMs` more. */
  #mustStop(aheadMs = 0): boolean {
    const invocation = this.#invocation;
    if (!invocation) return false;
    if (invocation.isCut) return true;
    if (this.#leftover) {
      invocation.isCut = this.#leftover.exceeded(aheadMs) !== undefined;
      return invocation.isCut;
    }
    const limit = invocation.budget.exceeded(aheadMs);
    if (limit) {
      invocation.isCut = true;
      // After the answer only the rest of the code is stopped. An interrupt cannot read the answer.
      if (!this.#hasAnswered()) stop(invocation, limit);
    } else if (this.#isSlow(invocation, aheadMs)) {
      invocation.isCut = true;
      if (!this.#hasAnswered()) end(invocation, { kind: 'slow' });
    }
    return invocation.isCut || invocation.outcome?.kind === 'stopped';
  }

  /** The memory of native functions counts together with the growth of the instance. */
  #hold(bytes: number): void {
    const invocation = this.#invocation;
    if (!invocation || bytes <= invocation.limits.heapBytes - this.memory().grownBytes) return;
    invocation.isCut = true;
    if (!this.#hasAnswered()) stop(invocation, 'heapBytes');
    throw new RunEnded();
  }

  #hasAnswered(): boolean {
    return this.#promise !== undefined && this.#crossing.isFulfilled(this.#promise);
  }

  /** Whether the run must leave this thread. It may, while its effects are unseen or once it has answered. */
  #isSlow({ budget, quickMs, hostCalls, outcome }: Invocation, aheadMs = 0): boolean {
    if (budget.wallMs() + aheadMs < quickMs || budget.cpuMs() + aheadMs < quickMs) return false;
    return hostCalls === 0 || outcome !== undefined || this.#hasAnswered();
  }

  #define(code: string, invocation: Invocation): void {
    const { context } = this.#quickjs;
    const evaluated = evaluateModule(context, code);
    if (evaluated.error) {
      end(invocation, readSyntaxError(context, evaluated.error, code));
      return;
    }
    evaluated.value.consume((body) => this.#call('define', invocation, [body]))?.dispose();
    this.#defined = invocation.outcome === undefined;
  }

  async #invoke({ argsJson, bodyJson, configurationJson, hostKey }: GuestRun, invocation: Invocation): Promise<void> {
    const args = this.#crossing.newText(argsJson);
    const body = bodyJson === undefined ? undefined : this.#crossing.newText(bodyJson);
    const clientName = hostKey === undefined ? this.#noText : this.#clientName;
    const configuration = this.#configurationText(configurationJson);
    this.#promise = this.#call('invoke', invocation, [args, body ?? this.#noText, configuration, clientName]);
    args.dispose();
    body?.dispose();
    while (!invocation.outcome) {
      this.#drainJobs(invocation);
      if (invocation.outcome) break;
      if (invocation.answers.length > 0) this.#deliverAnswers(invocation);
      else if (invocation.awaitedCalls > 0) await nextAnswer(invocation);
      else if (!this.#fireTimer(invocation)) end(invocation, this.#unsettled(this.#promise));
    }
    this.#promise?.dispose();
    this.#promise = undefined;
  }

  /** When nothing is left to run, the code waits in vain, or its wrapper broke. */
  #unsettled(promise: QuickJSHandle | undefined): Outcome {
    const { context } = this.#quickjs;
    const state = promise && context.getPromiseState(promise);
    return state?.type === 'rejected' ? readError(context, state.error) : { kind: 'stopped', by: 'stuck' };
  }

  #drainJobs(invocation: Invocation): void {
    for (;;) {
      const executed = this.#runJobs(jobsPerSlice);
      this.#takeResult(invocation);
      const limit = invocation.budget.exceeded();
      if (limit) stop(invocation, limit);
      else if (this.#isSlow(invocation)) end(invocation, { kind: 'slow' });
      if (Number.isNaN(executed)) stop(invocation, 'heapBytes');
      if (invocation.outcome || executed === 0) return;
    }
  }

  /** For the host's functions. Undefined once the answer was taken, so that later code cannot change it. */
  #runAsItIs(): Invocation | undefined {
    if (this.#invocation) this.#takeResult(this.#invocation);
    return this.#invocation;
  }

  #takeResult(invocation: Invocation): void {
    const answer = this.#promise && !invocation.outcome ? this.#crossing.fulfilled(this.#promise) : undefined;
    if (!answer) return;
    try {
      end(invocation, this.#outcomeOf(answer, invocation.limits.outputBytes));
    } catch (error) {
      end(invocation, { kind: 'stopped', by: stopOf(error) });
    }
    answer.dispose();
  }

  #outcomeOf(answer: QuickJSHandle, outputBytes: number): Outcome {
    const { lengthOf, textOf } = this.#crossing;
    if (this.#quickjs.context.typeof(answer) !== 'string') return { kind: 'stopped', by: 'crashed' };
    const tooLong: Outcome = { kind: 'stopped', by: 'outputBytes' };
    const around = '\n'.length; // It stands between body and headers, and is no output.
    if (lengthOf(answer) - around > outputBytes) return tooLong;
    const text = textOf(answer);
    if (Buffer.byteLength(text) - around > outputBytes) return tooLong;
    const [bodyJson, headersJson] = text.split('\n', 2);
    return { kind: 'result', bodyJson: bodyJson || undefined, headersJson: headersJson || undefined };
  }

  #deliverAnswers(invocation: Invocation): void {
    const { context } = this.#quickjs;
    for (const { id, ok, json } of invocation.answers.splice(0)) {
      invocation.awaitedCalls -= 1;
      const parameters = [context.newNumber(id), ok ? context.true : context.false, this.#crossing.newText(json)];
      this.#call('deliver', invocation, parameters)?.dispose();
      for (const parameter of parameters) parameter.dispose();
    }
  }

  #fireTimer(invocation: Invocation): boolean {
    const fired = this.#call('fireTimer', invocation, []);
    return fired?.consume((handle) => this.#quickjs.context.getNumber(handle)) === 1;
  }

  #finish(invocation: Invocation): boolean {
    const { runtime } = this.#quickjs;
    if (runtime.hasPendingJob()) this.#leftover = startBudget(leftoverLimits);
    for (let slice = 0; slice < leftoverSlices && runtime.hasPendingJob(); slice += 1) {
      if (Number.isNaN(this.#runJobs(jobsPerSlice))) return false;
    }
    const reset = this.#call('reset', invocation, []);
    reset?.dispose();
    return reset !== undefined && !invocation.isCut && !runtime.hasPendingJob() && !this.#leftover?.exceeded();
  }

  endBatch(): void {
    this.#configuration?.handle.dispose();
    this.#configuration = undefined;
  }

  #configurationText(json: string): QuickJSHandle {
    if (this.#configuration?.json === json) return this.#configuration.handle;
    this.#configuration?.handle.dispose();
    const handle = this.#crossing.newText(json);
    this.#configuration = { json, handle };
    return handle;
  }

  /** The guest's functions throw only at a limit, so a throw ends the invocation and gives undefined. */
  #call(name: GuestFunction, invocation: Invocation, parameters: QuickJSHandle[]): QuickJSHandle | undefined {
    const handle = this.#functions.get(name);
    if (!handle) throw new TypeError(`Guest function ${name} is missing`);
    const result = this.#crossing.call(handle, parameters);
    if ('value' in result) return result.value;
    end(invocation, readError(this.#quickjs.context, result.error));
    return undefined;
  }
}

function stopOf(error: unknown): Stop {
  if (error instanceof NoMemory) return 'heapBytes';
  return error instanceof RangeError ? 'stackBytes' : 'crashed';
}

/** An error of the code itself leaves the guest usable, a limit does not. */
function isReusable({ outcome }: Invocation): boolean {
  if (outcome?.kind === 'thrown')
    return !(outcome.failure.kind === 'error' && outcome.failure.name === 'InternalError');
  return outcome?.kind === 'result';
}
