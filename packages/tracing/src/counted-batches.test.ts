import { TraceFlags } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { CountedBatches } from './counted-batches.ts';

test('an exporter that throws is one that failed', async () => {
  const failures: unknown[] = [];
  const exporter: SpanExporter = {
    export() {
      throw new TypeError('a span that cannot be written');
    },
    shutdown: async () => {},
  };
  const batches = new CountedBatches(exporter, (error) => void failures.push(error));
  const span: Partial<ReadableSpan> = {
    spanContext: () => ({ traceId: '1', spanId: '2', traceFlags: TraceFlags.SAMPLED }),
    resource: resourceFromAttributes({}),
  };
  batches.onEnd(span as ReadableSpan);
  await batches.forceFlush();
  expect(failures).toEqual([new TypeError('a span that cannot be written')]);
  expect(batches.counts).toEqual({ exported: 0, failed: 1, dropped: 0 });
  await batches.shutdown();
});
