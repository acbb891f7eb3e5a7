import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { SpanQueue } from './span-queue.ts';

test('an exporter that throws is one that failed', async () => {
  const failures: unknown[] = [];
  const exporter: SpanExporter = {
    export() {
      throw new TypeError('a span that cannot be written');
    },
    shutdown: async () => {},
  };
  const queue = new SpanQueue({ exporter, onFailure: (error) => void failures.push(error) });
  queue.onEnd({} as ReadableSpan);
  await queue.forceFlush();
  expect(failures).toEqual([new TypeError('a span that cannot be written')]);
  expect(queue.counts).toEqual({ exported: 0, failed: 1, dropped: 0 });
  await queue.shutdown();
});
