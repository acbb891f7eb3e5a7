import { Counter, Gauge, type Registry } from 'prom-client';

export interface Measured<L extends string = string> {
  name: string;
  help: string;
  /** Read when metrics are; with a label, by its value. */
  read: () => number | Readonly<Record<L, number>>;
  /** Name of the label. */
  by?: string;
}

/** A figure that goes up and down, and that costs nothing until somebody asks for it. */
export function exportGauge(registry: Registry, { name, help, read, by }: Measured): void {
  new Gauge({
    name,
    help,
    labelNames: by === undefined ? [] : [by],
    registers: [registry],
    collect() {
      this.reset();
      const figures = read();
      if (typeof figures === 'number') this.set(figures);
      else for (const [value, figure] of Object.entries(figures)) this.set({ [by ?? '']: value }, figure);
    },
  });
}

/** A figure that only grows, counted elsewhere. */
export function exportCounter(registry: Registry, { name, help, read, by }: Measured): void {
  new Counter({
    name,
    help,
    labelNames: by === undefined ? [] : [by],
    registers: [registry],
    collect() {
      this.reset();
      const figures = read();
      if (typeof figures === 'number') this.inc(figures);
      else for (const [value, figure] of Object.entries(figures)) this.inc({ [by ?? '']: value }, figure);
    },
  });
}
