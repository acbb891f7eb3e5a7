import { serviceLogger } from '@sluice/service-runtime';
import { eventually, startTraceCollector } from '@sluice/testing';
import { Registry } from 'prom-client';
import { openTracing } from './index.ts';

const callersTrace = '0af7651916cd43dd8448eb211c80319c';
const callersSpan = 'b7ad6b7169203331';

async function open(stack: AsyncDisposableStack, ratio = 1, flushMs = 2000) {
  const collector = await startTraceCollector(stack);
  const lines: string[] = [];
  const log = serviceLogger({ service: 'test', level: 'info' }, { write: (line: string) => void lines.push(line) });
  const metrics = new Registry();
  const own = new AsyncDisposableStack();
  const headers = 'authorization=Basic%20canary';
  const options = { service: 'test', version: '1', endpoint: collector.url, headers, ratio, log, metrics, flushMs };
  const tracing = await openTracing({ ...options, stack: own });
  return { collector, lines, tracing, metrics, close: () => own.disposeAsync() };
}

test('a trace goes on where the caller left it; what is open when the process stops is sent', async () => {
  await using stack = new AsyncDisposableStack();
  const { collector, tracing, close } = await open(stack);
  const span = tracing.beginRequest('GET', `00-${callersTrace}-${callersSpan}-00`);
  expect(span.traceparent).toMatch(new RegExp(`^00-${callersTrace}-[0-9a-f]{16}-01$`));
  await tracing.runIn(span, () => tracing.inPart('part', async () => expect(tracing.current()).not.toBe(span)));
  span.end({ status: 503, tenantId: 'the-tenant', errorCode: 'unavailable' }, { name: 'GET /x' });
  await close();
  const [part, request] = collector.spans;
  expect(request).toMatchObject({
    service: 'test',
    name: 'GET /x',
    traceId: callersTrace,
    parentSpanId: callersSpan,
    isError: true,
    attributes: {
      'http.response.status_code': 503,
      'sluice.tenant_id': 'the-tenant',
      'error.type': 'unavailable',
    },
  });
  expect(part).toMatchObject({ name: 'part', traceId: callersTrace, parentSpanId: request?.spanId });
  expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { authorization: 'Basic canary' } });
});

test.each([
  ['no hexadecimal digits', `00-${'z'.repeat(32)}-${callersSpan}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${callersSpan}-01`],
  ['a span of zeros', `00-${callersTrace}-${'0'.repeat(16)}-01`],
  ['the version that is forbidden', `ff-${callersTrace}-${callersSpan}-01`],
  ['more than its version has', `00-${callersTrace}-${callersSpan}-01-more`],
  ['two headers, as Node joins them', `00-${callersTrace}-${callersSpan}-01, 00-${callersTrace}-${callersSpan}-01`],
  ['a page of text', 'x'.repeat(10_000)],
  ['nothing', ''],
])('a traceparent with %s begins a trace of its own', async (_name, traceparent) => {
  await using stack = new AsyncDisposableStack();
  const { tracing, close } = await open(stack);
  const span = tracing.beginRequest('GET', traceparent);
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(span.traceId).not.toBe(callersTrace);
  span.end();
  await close();
});

test('callers cannot have us send what we do not want to, whatever they choose', async () => {
  await using stack = new AsyncDisposableStack();
  const { collector, tracing, close } = await open(stack, 0);
  for (const traceId of [callersTrace, `${'0'.repeat(31)}1`, 'f'.repeat(32)]) {
    const span = tracing.beginRequest('GET', `00-${traceId}-${callersSpan}-01`);
    expect(span).toMatchObject({ traceId, isSent: false });
    expect(span.traceparent).toMatch(/-00$/);
    await tracing.runIn(span, () => tracing.inPart('part', async () => undefined));
    span.addChild('stage', { startedAt: 0, endedAt: 1 });
    span.end();
  }
  await close();
  expect(collector.requests).toEqual([]);
});

test('of many traces about the part that is set is sent, each whole or not at all', async () => {
  await using stack = new AsyncDisposableStack();
  const { collector, tracing, close } = await open(stack, 0.5);
  for (let i = 0; i < 400; i++) {
    const span = tracing.beginRequest('GET', undefined);
    span.addChild('stage', { startedAt: 0, endedAt: 1 });
    span.end();
  }
  await close();
  const requests = collector.spans.filter(({ name }) => name === 'GET');
  expect(requests.length).toBeGreaterThan(100);
  expect(requests.length).toBeLessThan(300);
  const parents = new Set(requests.map(({ spanId }) => spanId));
  const stages = collector.spans.filter(({ name }) => name === 'stage');
  expect(stages.map(({ parentSpanId }) => parentSpanId).every((id) => id && parents.has(id))).toBe(true);
  expect(stages).toHaveLength(requests.length);
});

test('a job names what caused it, and fails with a code', async () => {
  await using stack = new AsyncDisposableStack();
  const { collector, tracing, close } = await open(stack);
  const causedBy = `00-${callersTrace}-${callersSpan}-01`;
  const failing = tracing.inSpan('job x', () => Promise.reject(new TypeError('value of a card')), { causedBy });
  await expect(failing).rejects.toThrow('value of a card');
  await close();
  expect(collector.spans[0]).toMatchObject({
    isError: true,
    parentSpanId: undefined,
    links: [{ traceId: callersTrace, spanId: callersSpan }],
    attributes: { 'error.type': 'TypeError' },
  });
  expect(collector.requests.map(({ body }) => body).join()).not.toContain('value of a card');
});

test('a collector that hangs holds up neither work nor the stop; what the queue has no room for is counted', async () => {
  await using stack = new AsyncDisposableStack();
  const { collector, tracing, metrics, close } = await open(stack, 1, 300);
  collector.mode = 'hangs';
  for (let i = 0; i < 3000; i++) tracing.beginRequest('GET', undefined).end();
  await eventually('the collector was asked', () => collector.requests.length === 1);
  expect(await metrics.metrics()).toMatch(/sluice_trace_queue_spans 2048\n/);
  expect(await metrics.metrics()).toContain(`sluice_trace_spans_total{result="dropped"} ${3000 - 512 - 2048}\n`);
  const startedAt = performance.now();
  await close();
  expect(performance.now() - startedAt).toBeLessThan(4000);
  expect(await metrics.metrics()).toContain('sluice_trace_spans_total{result="exported"} 0\n');
});

test('one that refuses is named once, however often it does, and is used again when it takes spans', async () => {
  await using stack = new AsyncDisposableStack();
  const { collector, tracing, metrics, lines, close } = await open(stack);
  collector.mode = 'refuses';
  const sendOne = () => tracing.beginRequest('GET', undefined).end();
  for (const count of [1, 2]) {
    sendOne();
    await eventually('refused', () => collector.requests.length === count);
  }
  await eventually('counted', async () =>
    (await metrics.metrics()).includes('sluice_trace_spans_total{result="failed"} 2\n'),
  );
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'the collector of traces takes no spans; they are dropped',
  ]);
  collector.mode = 'takes';
  sendOne();
  await eventually('taken', () => collector.spans.length === 1);
  await close();
});
