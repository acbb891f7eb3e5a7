/** The stages of an invocation, in order. Reading the request and writing from memory belong to none. */
export const stages = ['authenticate', 'detokenize', 'transform', 'destination'] as const;
export type Stage = (typeof stages)[number];

/** Milliseconds that an invocation spent in each stage; 0 for a stage that it skipped. */
export class StageClock {
  readonly startedAt = performance.now();
  readonly durations: Record<Stage, number> = { authenticate: 0, detokenize: 0, transform: 0, destination: 0 };
  onLeave: ((stage: Stage, enteredAt: number, leftAt: number) => void) | undefined;
  #current: Stage | undefined;
  #enteredAt = this.startedAt;

  enter(stage?: Stage): void {
    const now = performance.now();
    if (this.#current) {
      this.#add(this.#current, now - this.#enteredAt);
      this.onLeave?.(this.#current, this.#enteredAt, now);
    }
    this.#current = stage;
    this.#enteredAt = now;
  }

  /** With literal names, because V8 finds a variable name by a slow look-up. */
  #add(stage: Stage, milliseconds: number): void {
    const { durations } = this;
    if (stage === 'authenticate') durations.authenticate += milliseconds;
    else if (stage === 'detokenize') durations.detokenize += milliseconds;
    else if (stage === 'transform') durations.transform += milliseconds;
    else durations.destination += milliseconds;
  }

  /** The times so far, as a `Server-Timing` header (W3C Server Timing). */
  serverTiming(): string {
    this.enter(this.#current);
    const entered = stages.filter((stage) => this.durations[stage] > 0);
    const entries = entered.map((stage) => `${stage};dur=${this.durations[stage].toFixed(2)}`);
    return [...entries, `total;dur=${(performance.now() - this.startedAt).toFixed(2)}`].join(', ');
  }
}
