interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

const barWidth = 24;
const redrawMs = 100;
const lineMs = 5000;

export class Progress {
  readonly #output: Output;
  readonly #now: () => number;
  #current: { what: string; startedAt: number } | undefined;
  #drawnAt: number;
  #isDrawn = false;

  constructor(output: Output, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
    this.#drawnAt = now();
  }

  update(what: string, step: { done: number; total: number }): void {
    const isTerminal = this.#output.isTTY === true;
    const time = this.#now();
    if (this.#current?.what !== what) this.#current = { what, startedAt: time };
    const isLast = step.done === step.total;
    if (time - this.#drawnAt < (isTerminal ? redrawMs : lineMs) && !(isTerminal && isLast)) return;
    this.#drawnAt = time;
    const line = describeStep(what, step, (time - this.#current.startedAt) / 1000);
    this.#isDrawn = isTerminal;
    this.#output.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  clear(): void {
    if (this.#isDrawn) this.#output.write('\r\x1b[K');
    this.#isDrawn = false;
  }
}

function describeStep(what: string, { done, total }: { done: number; total: number }, seconds: number): string {
  const share = total === 0 ? 1 : done / total;
  const filled = Math.round(share * barWidth);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`;
  const rate = seconds > 0 ? done / seconds : 0;
  const pace = rate > 0 ? `  ${grouped(Math.round(rate))} rows/s  ${describeSeconds((total - done) / rate)} left` : '';
  return `${what} ${bar} ${Math.floor(share * 100)} %  ${grouped(done)} of ${grouped(total)}${pace}`;
}

function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
