export interface FairTurnsOptions {
  /** Turns of all keys under way at once; default: any number. */
  atOnce?: number;
  /** Turns of one key under way at once; default: any number. */
  perKey?: number;
  /** How many turns may wait, of all keys together, and how long each. Otherwise `refusal` is the error. Default: no limit. */
  waiting?: WaitingLimits;
}

interface WaitingLimits {
  most?: number;
  forMs?: number;
  refusal?: (key: string) => Error;
}

const unlimited = Number.POSITIVE_INFINITY;

const tooMany = (key: string) => new Error(`Too many wait for a turn of ${key}`);

/** Gives the turn back. Only the first call counts. */
export type EndTurn = () => void;

/** Called only if a turn has to wait. `leave` takes it out of the queue and rejects it with `reason`. */
export type OnWait = (leave: (reason: unknown) => void) => void;

interface Waiter {
  begin(end: EndTurn): void;
  refuse(reason: unknown): void;
  timer?: NodeJS.Timeout;
}

/**
 * Limits concurrent work, in all and for each key. Waiting keys are served in rotation, and the work of one key in order of
 * arrival, so that a key with much waiting work delays only itself.
 */
export class FairTurns {
  readonly #atOnce: number;
  readonly #perKey: number;
  readonly #waitingLimits: WaitingLimits;
  /** Of keys with turns under way. */
  readonly #underWay = new Map<string, number>();
  /** Waiting work by key, without empty sets. A key moves to the end when a turn of it begins, and when one ends. */
  readonly #lines = new Map<string, Set<Waiter>>();
  #running = 0;
  #waiting = 0;

  constructor({ atOnce = unlimited, perKey = unlimited, waiting = {} }: FairTurnsOptions) {
    this.#atOnce = atOnce;
    this.#perKey = perKey;
    this.#waitingLimits = waiting;
  }

  /** `mostOfOneKey` is how many turns the busiest key has. */
  get state(): { running: number; waiting: number; mostOfOneKey: number } {
    return { running: this.#running, waiting: this.#waiting, mostOfOneKey: Math.max(0, ...this.#underWay.values()) };
  }

  /** No promise if a turn is free. The promise rejects with the refusal if too many wait, or after the time limit. */
  take(key: string, onWait?: OnWait): EndTurn | Promise<EndTurn> {
    return this.#isFree(key) ? this.#begin(key) : this.#waitFor(key, onWait);
  }

  async run<T>(key: string, work: () => Promise<T>, onWait?: OnWait): Promise<T> {
    const turn = this.take(key, onWait);
    const end = turn instanceof Promise ? await turn : turn;
    try {
      return await work();
    } finally {
      end();
    }
  }

  #isFree(key: string): boolean {
    return this.#running < this.#atOnce && (this.#underWay.get(key) ?? 0) < this.#perKey;
  }

  #begin(key: string): EndTurn {
    this.#running += 1;
    this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#end(key);
    };
  }

  #end(key: string): void {
    const wasFull = this.#running === this.#atOnce;
    this.#running -= 1;
    const others = (this.#underWay.get(key) ?? 1) - 1;
    if (others > 0) this.#underWay.set(key, others);
    else this.#underWay.delete(key);
    this.#goLast(key);
    const next = wasFull ? this.#firstFree() : key;
    if (next !== undefined) this.#beginFirstOf(next);
  }

  #firstFree(): string | undefined {
    for (const key of this.#lines.keys()) if (this.#isFree(key)) return key;
    return undefined;
  }

  #beginFirstOf(key: string): void {
    const line = this.#lines.get(key);
    const [first] = line ?? [];
    if (!line || !first) return;
    this.#leave(key, first);
    this.#goLast(key);
    first.begin(this.#begin(key));
  }

  #goLast(key: string): void {
    const line = this.#lines.get(key);
    if (!line) return;
    this.#lines.delete(key);
    this.#lines.set(key, line);
  }

  #waitFor(key: string, onWait: OnWait | undefined): Promise<EndTurn> {
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>();
    const waiter: Waiter = { begin: resolve, refuse: reject };
    const line = this.#lines.get(key) ?? new Set();
    this.#lines.set(key, line.add(waiter));
    this.#waiting += 1;
    const leave = (reason: unknown) => {
      if (this.#leave(key, waiter)) reject(reason);
    };
    const { most = unlimited, forMs, refusal = tooMany } = this.#waitingLimits;
    if (forMs !== undefined) waiter.timer = setTimeout(() => leave(refusal(key)), forMs);
    if (this.#waiting > most) this.#refuseLastOfLongest(key, refusal);
    onWait?.(leave);
    return promise;
  }

  /** Among equally long lines that of `arriving`, so that whoever waits already stays. */
  #refuseLastOfLongest(arriving: string, refusal: (key: string) => Error): void {
    let longest = arriving;
    for (const [key, line] of this.#lines) if (line.size > this.#lengthOf(longest)) longest = key;
    const last = [...(this.#lines.get(longest) ?? [])].at(-1);
    if (last && this.#leave(longest, last)) last.refuse(refusal(longest));
  }

  #lengthOf(key: string): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /** @returns whether it waited. */
  #leave(key: string, waiter: Waiter): boolean {
    const line = this.#lines.get(key);
    if (!line?.delete(waiter)) return false;
    clearTimeout(waiter.timer);
    this.#waiting -= 1;
    if (line.size === 0) this.#lines.delete(key);
    return true;
  }
}
