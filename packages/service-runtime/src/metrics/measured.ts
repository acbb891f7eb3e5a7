import { Counter, Gauge, type Registry } from 'prom-client';

export interface Measured<L extends string = string> {
  name: string;
  help: string;
  /** Called at each scrape; with a label, the figures are by its value. */
  read: () => number | Readonly<Record<L, number>>;
  by?: string;
}

export function exportGauge(registry: Registry, measured: Measured): void {
  new Gauge({
    ...descriptionOf(registry, measured),
    collect() {
      this.reset();
      for (const [labels, figure] of figuresOf(measured)) this.set(labels, figure);
    },
  });
}

/** For a figure that only grows and is counted elsewhere. */
export function exportCounter(registry: Registry, measured: Measured): void {
  new Counter({
    ...descriptionOf(registry, measured),
    collect() {
      this.reset();
      for (const [labels, figure] of figuresOf(measured)) this.inc(labels, figure);
    },
  });
}

function descriptionOf(registry: Registry, { name, help, by }: Measured) {
  return { name, help, labelNames: by === undefined ? [] : [by], registers: [registry] };
}

function figuresOf({ read, by = '' }: Measured): [labels: Record<string, string>, figure: number][] {
  const figures = read();
  if (typeof figures === 'number') return [[{}, figures]];
  return Object.entries(figures).map(([value, figure]) => [{ [by]: value }, figure]);
}
