import { countInvocation, emptyMinuteCounts, figuresOf, fromFields, toFields } from './figures.ts';

test('percentiles are within 5 % of the true ones, over all durations', () => {
  for (const ms of [0.1, 0.7, 3, 42, 999, 30_000, 600_000]) {
    const counts = emptyMinuteCounts();
    countInvocation(counts, ms, undefined);
    const [p50] = figuresOf([counts]).latency_ms.p50;
    expect(Math.abs((p50 ?? 0) - ms) / ms).toBeLessThan(0.05);
  }
});

test('p99 is the duration that one of a hundred exceeds', () => {
  const counts = emptyMinuteCounts();
  for (let i = 0; i < 98; i++) countInvocation(counts, 10, undefined);
  for (let i = 0; i < 2; i++) countInvocation(counts, 1000, undefined);
  const { p50, p99 } = figuresOf([counts]).latency_ms;
  expect([Math.round(p50[0] ?? 0), Math.round((p99[0] ?? 0) / 100)]).toEqual([10, 10]);
});

test('errors are by cause in each minute; a minute without invocations has no percentile', () => {
  const [first, second] = [emptyMinuteCounts(), emptyMinuteCounts()];
  countInvocation(first, 1, 'caller_gone');
  countInvocation(first, 1, 'caller_gone');
  expect(figuresOf([first, second])).toEqual({
    requests: [2, 0],
    errors: { caller_gone: [2, 0] },
    latency_ms: { p50: [expect.any(Number), null], p99: [expect.any(Number), null] },
  });
});

test('what is written as fields is read as it was', () => {
  const counts = emptyMinuteCounts();
  countInvocation(counts, 3, 'forbidden');
  countInvocation(counts, 0, undefined);
  const texts = toFields(counts).map(String);
  const fields = Object.fromEntries(texts.flatMap((name, i) => (i % 2 === 0 ? [[name, texts[i + 1] ?? '']] : [])));
  expect(fromFields(fields)).toEqual(counts);
  expect(fromFields({})).toEqual(emptyMinuteCounts());
});
