import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallOptions, type ExportedSpan, eventually, openTemporaryFolder, useStack } from '@sluice/testing';
import {
  type RunningPlatform,
  serviceNames,
  sharePlatform,
  startDestination,
  tracedTo,
} from './testing/running-platform.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parentId}-00`;

/** What must be in no span. */
const canaries = {
  card: '4242424242424242',
  configuration: 'canary-configuration',
  query: 'canary-query',
  header: 'canary-header',
  path: 'canary-path',
};

const preload = new URL('./testing/note-imports.preload.ts', import.meta.url).href;
const server = 2;
const client = 3;

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  return { platform, collector: platform.collector, ...(await openScene(closing, platform)) };
});

/** An Application, a token and a Proxy with both transforms. */
async function openScene(closing: AsyncDisposableStack, platform: RunningPlatform) {
  const destination = await startDestination(closing);
  const application = await platform.create('/applications', {
    name: 'backend',
    type: 'private',
    permissions: ['token:create', 'token:read', 'token:use'],
  });
  const token = await platform.call('POST', '/tokens', {
    key: application.key,
    body: { type: 'card', data: { number: canaries.card } },
    headers: { traceparent },
  });
  const code = 'module.exports = async ({ args }) => ({ body: args.body })';
  const proxy = await platform.create('/proxies', {
    name: 'echo',
    destination_url: destination.url,
    configuration: { secret: canaries.configuration },
    request_transform: { code },
    response_transform: { code },
  });
  const invoke = (headers: CallOptions['headers'] = {}) =>
    platform.call('POST', `/proxy/${canaries.path}?q=${canaries.query}`, {
      key: application.key,
      body: { card: `{{${token.body.id}}}` },
      headers: { 'SVC-PROXY-KEY': proxy.key, 'X-Canary': canaries.header, ...headers },
    });
  return { destination, application, proxy, token: token.body, invoke };
}

const childrenOf = (spans: readonly ExportedSpan[], parent: ExportedSpan | undefined) =>
  spans.filter(({ parentSpanId }) => parent && parentSpanId === parent.spanId).map(({ name }) => name);

describe('switched on', () => {
  const spansNamed = async (name: string, of?: string): Promise<ExportedSpan[]> => {
    const { collector } = world.current;
    const found = () => collector.spans.filter((span) => span.name === name && (!of || span.traceId === of));
    await eventually(name, () => found().length > 0);
    return found();
  };

  test('token vault: a span for each operation, in the trace of the caller, with route and Tenant', async () => {
    const { platform } = world.current;
    const [span] = await spansNamed('POST /tokens', traceId);
    expect(span).toMatchObject({ service: 'token-vault', kind: server, parentSpanId: parentId, isError: false });
    const { tenant_id } = platform.stack.credentials;
    expect(span?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/tokens',
      'http.response.status_code': 201,
      'sluice.tenant_id': tenant_id,
    });
  });

  test('management API: a change has its confirmation as a part; a failure has its code', async () => {
    const { collector, platform, proxy } = world.current;
    const key = platform.stack.credentials.management_key;
    const own = '1'.repeat(32);
    const headers = { traceparent: `00-${own}-${parentId}-01` };
    await platform.call('DELETE', `/applications/${crypto.randomUUID()}`, { key, headers });
    const [failed] = await spansNamed('DELETE /applications/:id', own);
    expect(failed).toMatchObject({ service: 'management-api', attributes: { 'error.type': 'not_found' } });
    expect(failed?.isError).toBe(false);
    const patch = { name: 'renamed' };
    const changing = { key, body: patch, headers: { ...headers, 'Content-Type': 'application/merge-patch+json' } };
    expect((await platform.call('PATCH', `/proxies/${proxy.id}`, changing)).status).toBe(204);
    const [changed] = await spansNamed('PATCH /proxies/:id', own);
    expect(childrenOf(collector.spans, changed)).toEqual(['confirm change']);
  });

  test('gateway: an invocation with its stages, and what transforms were in their threads', async () => {
    const { collector, invoke, proxy } = world.current;
    const own = '2'.repeat(32);
    expect((await invoke({ traceparent: `00-${own}-${parentId}-00` })).status).toBe(200);
    const [span] = await spansNamed('invocation', own);
    expect(span).toMatchObject({ service: 'proxy-gateway', kind: server, parentSpanId: parentId });
    expect(span?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'sluice.proxy_id': proxy.id,
      'sluice.tokens': 1,
    });
    expect(childrenOf(collector.spans, span)).toEqual([
      'authenticate',
      'detokenize',
      'request transform',
      'destination',
      'response transform',
    ]);
    const parts = collector.spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId);
    const [, , transform, destination] = parts;
    expect(childrenOf(collector.spans, transform)).toEqual(['transform thread']);
    expect(destination).toMatchObject({ kind: client, attributes: { 'http.response.status_code': 200 } });
    const sum = parts.reduce((total, { durationMs }) => total + durationMs, 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThanOrEqual((span?.durationMs ?? 0) + 2);
  });

  test('gateway: what is refused is a span with the code, without a Tenant', async () => {
    const { invoke } = world.current;
    const own = '3'.repeat(32);
    await invoke({ traceparent: `00-${own}-${parentId}-00`, 'SVC-PROXY-KEY': 'unknown' });
    const [span] = await spansNamed('invocation', own);
    expect(span?.attributes).toMatchObject({ 'error.type': expect.stringMatching(/^[a-z_]+$/) });
    expect(span?.attributes['sluice.tenant_id']).toBeUndefined();
  });

  test('worker: sweeps, and a job that names the request which made it', async () => {
    const { platform } = world.current;
    const own = '4'.repeat(32);
    const expires_at = new Date(Date.now() + 1500).toISOString();
    const answer = await platform.call('POST', '/applications', {
      key: platform.stack.credentials.management_key,
      body: { name: 'short', type: 'private', permissions: ['token:read'], expires_at },
      headers: { traceparent: `00-${own}-${parentId}-00` },
    });
    expect(answer.status).toBe(201);
    const [request] = await spansNamed('POST /applications', own);
    const [job] = await spansNamed('job application-expiry');
    expect(job).toMatchObject({ service: 'worker', links: [{ traceId: own, spanId: request?.spanId }] });
    expect(await spansNamed('sweep change-relay')).not.toEqual([]);
  });

  test('lines of the log name the trace; without an id of the caller it is the trace id of answer and audit log', async () => {
    const { platform, invoke, application } = world.current;
    const own = '5'.repeat(32);
    const headers = { traceparent: `00-${own}-${parentId}-00` };
    expect((await invoke(headers)).headers.get('svc-trace-id')).toBe(own);
    const named = { ...headers, 'SVC-TRACE-ID': 'of-the-caller' };
    const answer = await platform.call('GET', '/tokens', { key: application.key, headers: named });
    expect(answer.headers.get('svc-trace-id')).toBe('of-the-caller');
    const lineOf = async (service: 'proxy-gateway' | 'token-vault') =>
      (await platform.logLines(service)).find(({ otel_trace_id }) => otel_trace_id === own);
    await eventually('both lines', async () => !!(await lineOf('proxy-gateway')) && !!(await lineOf('token-vault')));
    expect(await lineOf('proxy-gateway')).toMatchObject({ trace_id: own, msg: 'invocation' });
    expect(await lineOf('token-vault')).toMatchObject({ trace_id: 'of-the-caller', msg: 'request' });
  });

  test('destinations get what the caller sent, and nothing where it sent nothing', async () => {
    const { invoke, destination } = world.current;
    await invoke();
    expect(destination.seen.at(-1)?.traceparent).toBeUndefined();
    await invoke({ traceparent });
    expect(destination.seen.at(-1)?.traceparent).toBe(traceparent);
  });

  test('no exported byte holds a value, a key, a configuration, a header, a query or a path', async () => {
    const { collector, platform, application, proxy, token, invoke } = world.current;
    const own = '6'.repeat(32);
    await invoke({ traceparent: `00-${own}-${parentId}-00` });
    await platform.call('GET', `/tokens/${canaries.card}`, { key: application.key });
    await platform.call('GET', `/${canaries.path}`, { key: application.key });
    await spansNamed('GET /tokens/:id');
    await spansNamed('GET');
    await spansNamed('invocation', own);
    const bytes = collector.requests.map(({ headers, body }) => JSON.stringify(headers) + body).join('\n');
    expect(bytes).toContain(proxy.id); // it is where it would be found
    const { management_key } = platform.stack.credentials;
    const secrets = { ...canaries, token: token.id, keys: [application.key, proxy.key, management_key] };
    for (const secret of Object.values(secrets).flat()) expect(bytes).not.toContain(secret);
  });

  test('a collector that hangs, then is away, costs no request, and is named once at most in a minute', async () => {
    const { collector, platform, invoke } = world.current;
    for (const mode of ['hangs', 'refuses'] as const) {
      collector.mode = mode;
      for (let i = 0; i < 20; i++) expect((await invoke()).status).toBe(200);
    }
    await eventually('failures are counted', async () =>
      /^sluice_trace_spans_total\{result="failed"\} [1-9]/m.test(await platform.metricsOf('proxy-gateway')),
    );
    const lines = await platform.logLines('proxy-gateway');
    expect(lines.filter(({ msg }) => String(msg).startsWith('the collector')).length).toBeLessThanOrEqual(1);
    collector.mode = 'takes';
  });
});

test('told to, destinations get our traceparent in place of the one of the caller', async () => {
  await using closing = new AsyncDisposableStack();
  const imported = join(await openTemporaryFolder(closing, 'imports'), 'imported');
  const { platform, collector, invoke, destination } = world.current;
  await platform.restart(['proxy-gateway'], {
    ...tracedTo(collector),
    TRACE_CONTEXT_TO_DESTINATIONS: 'true',
    NODE_OPTIONS: noting(imported),
  });
  collector.spans.length = 0;
  expect((await invoke({ traceparent, tracestate: 'vendor=1' })).status).toBe(200);
  const seen = destination.seen.at(-1);
  expect(seen?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  expect(seen?.traceparent).not.toContain(parentId);
  expect(seen?.tracestate).toBe('vendor=1');
  await invoke({ traceparent: 'hostile', tracestate: 'vendor=1' });
  expect(destination.seen.at(-1)?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(destination.seen.at(-1)?.tracestate).toBeUndefined();
  await eventually('spans', () => collector.spans.some(({ name }) => name === 'invocation'));
  // What the test of the default looks for can be found
  expect(readFileSync(imported, 'utf8')).toContain('/@opentelemetry/sdk-trace/');
});

test('by default nothing of the SDK of OpenTelemetry is loaded, and traceparent is a header as any other', async () => {
  await using closing = new AsyncDisposableStack();
  const imported = join(await openTemporaryFolder(closing, 'imports'), 'imported');
  const { platform, invoke, destination } = world.current;
  await platform.restart(serviceNames, { NODE_OPTIONS: noting(imported) });
  const answer = await invoke({ traceparent });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('svc-trace-id')).not.toBe(traceId);
  expect(destination.seen.at(-1)?.traceparent).toBe(traceparent);
  for (const service of serviceNames) expect(await platform.metricsOf(service)).not.toContain('sluice_trace_');
  expect(existsSync(imported) ? readFileSync(imported, 'utf8') : '').toBe('');
});

function noting(file: string): string {
  return `--import ${preload}?file=${encodeURIComponent(file)}`;
}
