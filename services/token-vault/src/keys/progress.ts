export interface Progress {
  update(what: string, step: { done: number; total: number }): void;
  clear(): void;
}

interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

const barWidth = 24;
const redrawMs = 100;
const lineMs = 5000;

export function openProgress(output: Output, now: () => number = () => performance.now()): Progress {
  const isTerminal = output.isTTY === true;
  let current: { what: string; startedAt: number } | undefined;
  let drawnAt = now();
  let isDrawn = false;
  return {
    update(what, step) {
      const time = now();
      if (current?.what !== what) current = { what, startedAt: time };
      const isLast = step.done === step.total;
      if (time - drawnAt < (isTerminal ? redrawMs : lineMs) && !(isTerminal && isLast)) return;
      drawnAt = time;
      const line = describeStep(what, step, (time - current.startedAt) / 1000);
      isDrawn = isTerminal;
      output.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
    },
    clear() {
      if (isDrawn) output.write('\r\x1b[K');
      isDrawn = false;
    },
  };
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
