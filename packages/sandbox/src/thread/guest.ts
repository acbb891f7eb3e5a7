import type { QuickJSHandle } from 'quickjs-emscripten';
import { type LargeHeapUse, largeHeapBytes, takeLargeHeap } from '../large-heaps.ts';
import type { CodeKind } from '../transform-task.ts';
import { type Bridge, meteredBridge } from './bridge/bridge.ts';
import { type Budget, budgetFrom, jobsPerSlice, leftoverLimits, leftoverSlices } from './budget.ts';
import { fetchedJson } from './fetching.ts';
import { guestFileLoader } from './guest-files.ts';
import { isReusable, resultIn, separator, stopOf, tooLong } from './guest-outcome.ts';
import { installHostFunctions } from './host-functions.ts';
import { end, type Invocation, nextAnswer, stop } from './invocation.ts';
import type { GuestRun, GuestSettings } from './messages.ts';
import { type Meter, RunEnded } from './meter.ts';
import { evaluateModule } from './module-code.ts';
import type { Outcome, Stop } from './outcome.ts';
import {
  type Crossing,
  crossingInto,
  type InstanceMemory,
  instantiate,
  jobRunner,
  memoryOf,
  type QuickJs,
  type RunJobs,
} from './quickjs.ts';
import { readSyntaxError } from './syntax.ts';
import { readError } from './thrown.ts';

const exportedFunctions = ['define', 'invoke', 'react', 'deliver', 'fireTimer', 'passTime', 'reset'] as const;
type GuestFunction = (typeof exportedFunctions)[number];

/** The memory of an instance grows by up to a fifth more than it needs. */
const mostBytesAtOnce = 1.25 * largeHeapBytes;

/** A Tenant's transform in its own instance of QuickJS, which stays warm between runs. */
export class Guest {
  readonly #kind: CodeKind;
  readonly #quickjs: QuickJs;
  readonly #meter: Meter = {
    spend: (aheadMs) => {
      if (this.#mustStop(aheadMs)) throw new RunEnded();
    },
    hold: (bytes) => this.#hold(bytes),
  };
  readonly #bridge: Bridge = meteredBridge(this.#meter);
  readonly #functions: Map<GuestFunction, QuickJSHandle>;
  readonly #runJobs: RunJobs;
  readonly #crossing: Crossing;
  readonly #largeHeap: LargeHeapUse;
  readonly #noText: QuickJSHandle;
  readonly #clientName: QuickJSHandle;
  #configuration: { json: string; handle: QuickJSHandle } | undefined;
  #defined = false;
  #invocation: Invocation | undefined;
  #promise: QuickJSHandle | undefined;
  #leftover: Budget | undefined;

  private constructor(quickjs: QuickJs, kind: CodeKind, { sources, headerPrefix, largeHeap }: GuestSettings) {
    this.#largeHeap = largeHeap;
    this.#quickjs = quickjs;
    this.#kind = kind;
    const { context } = quickjs;
    this.#crossing = crossingInto(quickjs);
    this.#noText = context.newString('');
    this.#clientName = context.newString(headerPrefix);
    const load = guestFileLoader(quickjs, sources);
    installHostFunctions({
      context,
      crossing: this.#crossing,
      headerPrefix,
      hasFetch: kind === 'reactor',
      bridge: this.#bridge,
      invocation: () => this.#runAsItIs(),
      load: (name) => load(this.#crossing.textOf(name)),
    });
    const main = context.unwrapResult(load('main'));
    this.#functions = new Map(exportedFunctions.map((name) => [name, context.getProp(main, name)]));
    this.#runJobs = jobRunner(quickjs);
  }

  /** Starts QuickJS with the guest's own files. The first run loads the transform, within its limits. */
  static async open(kind: CodeKind, settings: GuestSettings): Promise<Guest> {
    const { quickjs, limits } = settings;
    const instance = await instantiate(quickjs, limits.heapBytes);
    const guest = new Guest(instance, kind, settings);
    instance.runtime.setMemoryLimit(limits.heapBytes);
    instance.runtime.setMaxStackSize(limits.stackBytes);
    instance.runtime.setInterruptHandler(() => guest.#mustStop());
    instance.mayGrow = (bytes) => guest.#mayGrow(bytes);
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
      stop(invocation, stopOf(error, invocation));
      return false;
    } finally {
      this.#bridge.clear();
      this.#promise = undefined;
      this.#invocation = undefined;
    }
  }

  /** QuickJS calls it while code runs, and native functions call it before they take another `aheadMs`. */
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
      this.#cut(invocation, limit); // An interrupt cannot read the result.
    } else if (this.#isSlow(invocation, aheadMs)) {
      invocation.isCut = true;
      if (!this.#hasAnswered()) end(invocation, { kind: 'slow' });
    }
    return invocation.isCut || invocation.outcome?.kind === 'stopped' || invocation.outcome?.kind === 'aborted';
  }

  /** A heap that becomes large waits until there is memory for it, and leaves the run half of its time. */
  #mayGrow(bytes: number): boolean {
    const invocation = this.#invocation;
    if (bytes <= mostBytesAtOnce || !invocation) return true;
    if (invocation.isShortOfMemory) return false;
    const longestMs = invocation.outcome ? 0 : invocation.budget.wallLeftMs() / 2;
    if (takeLargeHeap(this.#largeHeap, invocation.tenantId, longestMs)) return true;
    invocation.isShortOfMemory = true;
    this.#cut(invocation, 'memoryWait');
    return false;
  }

  /** After the result this only stops leftover code. */
  #cut(invocation: Invocation, by: Stop): void {
    invocation.isCut = true;
    if (!this.#hasAnswered()) stop(invocation, by);
  }

  /** The memory of native functions counts together with the growth of the instance. */
  #hold(bytes: number): void {
    const invocation = this.#invocation;
    if (!invocation) return;
    const memory = this.memory();
    if (bytes > invocation.limits.heapBytes - memory.grownBytes) this.#cut(invocation, 'heapBytes');
    else if (this.#mayGrow(memory.heapBytes + bytes)) return;
    throw new RunEnded();
  }

  #hasAnswered(): boolean {
    return this.#promise !== undefined && this.#crossing.isFulfilled(this.#promise);
  }

  /**
   * Whether the run must move to a slow thread. It may, until it has called the host, and again once it has its result.
   */
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

  async #invoke({ argsJson, bodyJson, configurationJson, hasClient }: GuestRun, invocation: Invocation): Promise<void> {
    const args = this.#crossing.newText(argsJson);
    const body = bodyJson === undefined ? undefined : this.#crossing.newText(bodyJson);
    const clientName = hasClient ? this.#clientName : this.#noText;
    const configuration = this.#configurationText(configurationJson);
    const isReactor = this.#kind === 'reactor';
    this.#promise = isReactor
      ? this.#call('react', invocation, [args, configuration, clientName])
      : this.#call('invoke', invocation, [args, body ?? this.#noText, configuration, clientName]);
    args.dispose();
    body?.dispose();
    while (!invocation.outcome) {
      this.#drainJobs(invocation);
      if (invocation.outcome) break;
      if (invocation.answers.length > 0) this.#deliverAnswers(invocation);
      else if (invocation.mayFetch && (await this.#waited(invocation))) continue;
      else if (invocation.awaitedCalls > 0) await nextAnswer(invocation);
      else if (!this.#fireTimer(invocation)) end(invocation, this.#unsettled(this.#promise));
    }
    this.#promise?.dispose();
    this.#promise = undefined;
  }

  /** If nothing is left to run, the code waits in vain, or its wrapper broke. */
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

  /**
   * The invocation for the host's functions. Undefined once the result was taken, so that later code cannot change it.
   */
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
      stop(invocation, stopOf(error, invocation));
    }
    answer.dispose();
  }

  #outcomeOf(answer: QuickJSHandle, outputBytes: number): Outcome {
    const { lengthOf, textOf } = this.#crossing;
    if (this.#quickjs.context.typeof(answer) !== 'string') return { kind: 'stopped', by: 'crashed' };
    if (lengthOf(answer) - separator.length > outputBytes) return tooLong;
    return resultIn(textOf(answer), { kind: this.#kind, outputBytes });
  }

  #deliverAnswers(invocation: Invocation): void {
    const { context } = this.#quickjs;
    for (const { id, ok, json: told, bytes } of invocation.answers.splice(0)) {
      const json = bytes ? fetchedJson(bytes) : told;
      invocation.awaitedCalls -= 1;
      const parameters = [context.newNumber(id), ok ? context.true : context.false, this.#crossing.newText(json)];
      this.#call('deliver', invocation, parameters)?.dispose();
      for (const parameter of parameters) parameter.dispose();
    }
  }

  /**
   * Waits in real time for an answer or the next timer, because destinations must see the code's pauses before and between
   * its calls.
   * @returns false if there is nothing to wait for.
   */
  async #waited(invocation: Invocation): Promise<boolean> {
    const dueMs = this.#passTime(invocation, 0);
    if (dueMs === undefined && invocation.awaitedCalls === 0) return false;
    const startedAt = performance.now();
    await nextAnswer(invocation, dueMs);
    const leftMs = this.#passTime(invocation, performance.now() - startedAt);
    if (leftMs === 0 && invocation.answers.length === 0) this.#fireTimer(invocation);
    return true;
  }

  /** @returns the milliseconds until the first timer is due; undefined where there is none. */
  #passTime(invocation: Invocation, ms: number): number | undefined {
    const { context } = this.#quickjs;
    const elapsed = context.newNumber(ms);
    const dueMs = this.#call('passTime', invocation, [elapsed])?.consume((handle) => context.getNumber(handle)) ?? -1;
    elapsed.dispose();
    return dueMs < 0 ? undefined : dueMs;
  }

  #fireTimer(invocation: Invocation): boolean {
    const fired = this.#call('fireTimer', invocation, []);
    return fired?.consume((handle) => this.#quickjs.context.getNumber(handle)) === 1;
  }

  #finish(invocation: Invocation): boolean {
    const { runtime } = this.#quickjs;
    if (runtime.hasPendingJob()) this.#leftover = budgetFrom(leftoverLimits);
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

  /** The guest's functions throw only at a limit, so a throw ends the invocation and returns undefined. */
  #call(name: GuestFunction, invocation: Invocation, parameters: QuickJSHandle[]): QuickJSHandle | undefined {
    const handle = this.#functions.get(name);
    if (!handle) throw new TypeError(`Guest function ${name} is missing`);
    const result = this.#crossing.call(handle, parameters);
    if ('value' in result) return result.value;
    end(invocation, readError(this.#quickjs.context, result.error));
    return undefined;
  }
}
