import { bucketOf, type Counts, countInvocation, emptyCounts, figuresOf, fromFields, toFields } from './figures.ts';

function count(counts: Counts, durationMs: number, errorCode?: string, destinationStatus?: number): void {
  countInvocation(counts, { errorCode, destinationStatus }, bucketOf(durationMs));
}

test('percentiles are within 5 % of the true ones, over all durations', () => {
  for (const ms of [0.1, 0.7, 3, 42, 999, 30_000, 600_000]) {
    const counts = emptyCounts();
    count(counts, ms);
    const [p50] = figuresOf([counts]).latency_ms.p50;
    expect(Math.abs((p50 ?? 0) - ms) / ms).toBeLessThan(0.05);
  }
});

test('p99 is the duration that one of a hundred exceeds', () => {
  const counts = emptyCounts();
  for (let i = 0; i < 98; i++) count(counts, 10);
  for (let i = 0; i < 2; i++) count(counts, 1000);
  const { p50, p99 } = figuresOf([counts]).latency_ms;
  expect([Math.round(p50[0] ?? 0), Math.round((p99[0] ?? 0) / 100)]).toEqual([10, 10]);
});

test('errors are by cause in each minute; a minute without invocations has no percentile', () => {
  const [first, second] = [emptyCounts(), emptyCounts()];
  count(first, 1, 'caller_gone');
  count(first, 1, 'caller_gone');
  expect(figuresOf([first, second])).toEqual({
    requests: [2, 0],
    errors: { caller_gone: [2, 0] },
    destination_errors: [0, 0],
    latency_ms: { p50: [expect.any(Number), null], p99: [expect.any(Number), null] },
  });
});

test('what is written as fields is read as it was', () => {
  const counts = emptyCounts();
  count(counts, 3, 'forbidden');
  count(counts, 0, undefined, 503);
  const texts = toFields(counts).map(String);
  const fields = Object.fromEntries(texts.flatMap((name, i) => (i % 2 === 0 ? [[name, texts[i + 1] ?? '']] : [])));
  expect(fromFields(fields)).toEqual(counts);
  expect(fromFields({})).toEqual(emptyCounts());
});
