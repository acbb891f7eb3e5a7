import type { Registry } from 'prom-client';
import { exportCounter, exportGauge } from '../metrics/measured.ts';
import type { SpanQueue } from './span-queue.ts';

export function measureSpans(queue: SpanQueue, registry: Registry): void {
  exportCounter(registry, {
    name: 'sluice_trace_spans_total',
    help: 'Spans that ended, by what became of them; dropped are those that the queue had no room for',
    by: 'result',
    read: () => ({ ...queue.counts }),
  });
  exportGauge(registry, {
    name: 'sluice_trace_queue_spans',
    help: 'Spans that wait to be sent',
    read: () => queue.length,
  });
}
