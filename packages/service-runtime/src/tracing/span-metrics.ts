import { Counter, Gauge, type Registry } from 'prom-client';
import type { SpanQueue } from './span-queue.ts';

/** Registers what became of spans; only where traces are on. */
export function measureSpans(queue: SpanQueue, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'sluice_trace_spans_total',
    help: 'Spans that ended, by what became of them; dropped are those that the queue had no room for',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(queue.counts)) this.inc({ result }, count);
    },
  });
  new Gauge({
    name: 'sluice_trace_queue_spans',
    help: 'Spans that wait to be sent',
    registers,
    collect() {
      this.set(queue.length);
    },
  });
}
