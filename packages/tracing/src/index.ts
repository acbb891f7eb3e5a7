import type { Tracing, TracingOptions } from '@sluice/service-runtime';

/** OpenTelemetry is imported only when this is called, so that it costs nothing where traces are off. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { open } = await import('./open-tracing.ts');
  return open(options);
}
