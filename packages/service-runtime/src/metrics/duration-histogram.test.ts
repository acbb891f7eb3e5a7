import { Histogram, Registry } from 'prom-client';
import { durationHistogram } from './duration-histogram.ts';

const options = { name: 'x_seconds', help: 'Of x', series: [{ kind: 'a' }, { kind: 'b' }, { kind: 'never' }] };

test('it exports what a histogram of prom-client exports', async () => {
  const ours = new Registry();
  const theirs = new Registry();
  const histogram = durationHistogram({ ...options, registry: ours });
  const reference = new Histogram({
    ...options,
    labelNames: ['kind'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [theirs],
  });
  for (const ms of [0, 0.5, 0.51, 1, 16, 31, 249.9, 30_000, 31_000]) {
    histogram.observe(0, ms);
    reference.observe({ kind: 'a' }, ms / 1000);
  }
  histogram.observe(1, 16);
  reference.observe({ kind: 'b' }, 0.016);

  /** The last digits of sums differ, because they are added up in other units. */
  const rounded = (text: string) =>
    text.replace(/(_sum.* )([\d.]+)$/gm, (_, name, sum) => name + Number(sum).toFixed(9));
  const lines = async (registry: Registry) =>
    rounded(await registry.metrics())
      .split('\n')
      .sort();
  expect(await lines(ours)).toEqual(await lines(theirs));
});
