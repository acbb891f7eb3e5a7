import type { Registry } from 'prom-client';

/** Has a fixed list of series, because prom-client's histogram costs too much for each request. */
export interface DurationHistogram {
  observe(series: number, milliseconds: number): void;
}

export interface HistogramOptions {
  name: string;
  help: string;
  series: readonly Record<string, string>[];
  registry: Registry;
}

const bucketsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const bucketsMs = bucketsSeconds.map((seconds) => seconds * 1000);
const width = bucketsMs.length + 1;

export function durationHistogram({ name, help, series, registry }: HistogramOptions): DurationHistogram {
  const counts = new Float64Array(series.length * width);
  const sums = new Float64Array(series.length);

  registry.registerMetric({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: series.flatMap(valuesOf) }),
    reset: () => {
      counts.fill(0);
      sums.fill(0);
    },
  } as never); // prom-client declares its own classes only, and reads no more than this

  function valuesOf(labels: Record<string, string>, index: number) {
    let count = 0;
    const buckets = [...bucketsSeconds, '+Inf'].map((le, i) => {
      count += counts[index * width + i] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    if (count === 0) return [];
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: (sums[index] ?? 0) / 1000 },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }

  return {
    observe(index, milliseconds) {
      let bucket = 0;
      while (bucket < bucketsMs.length && milliseconds > (bucketsMs[bucket] ?? 0)) bucket++;
      counts[index * width + bucket] = (counts[index * width + bucket] ?? 0) + 1;
      sums[index] = (sums[index] ?? 0) + milliseconds;
    },
  };
}
