import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, openTemporaryFolder, serveHttp, useStack } from '@sluice/testing';
import { parse, stringify } from 'yaml';
import { committedFiles } from './dashboards/committed.ts';
import { type ExportedMetrics, readExported } from './exported-metrics.ts';
import { listIn, metricsDocument, metricsList } from './metrics-document.ts';
import { alertsFile, dashboardQueries, readAlerts, unknownNames } from './queries.ts';
import { promtool } from './testing/promtool.ts';
import { type RunningPlatform, serviceNames, sharePlatform, startDestination } from './testing/running-platform.ts';

/** What the real services export after the least traffic that touches every part. */
const exported = useStack(async (closing) => {
  const platform = await sharePlatform();
  await useEveryPart(closing, platform);
  const texts = new Map<string, ExportedMetrics>();
  for (const service of serviceNames) texts.set(service, readExported([await platform.metricsOf(service)]));
  const all: ExportedMetrics = { families: new Map(), series: new Map() };
  for (const { families, series } of texts.values()) {
    for (const [name, family] of families) all.families.set(name, family);
    for (const [name, labels] of series) all.series.set(name, new Set([...(all.series.get(name) ?? []), ...labels]));
  }
  return { platform, of: texts, all };
});

async function useEveryPart(closing: AsyncDisposableStack, platform: RunningPlatform): Promise<void> {
  const destination = await startDestination(closing);
  const { key } = await platform.create('/applications', {
    name: 'backend',
    type: 'private',
    permissions: ['token:create', 'token:use'],
  });
  const token = await platform.call('POST', '/tokens', { key, body: { type: 'token', data: 'x' } });
  const proxy = await platform.create('/proxies', {
    name: 'echo',
    destination_url: destination.url,
    request_transform: { code: 'module.exports = async ({ args }) => ({ body: args.body })' },
  });
  const answer = await platform.call('POST', '/proxy', {
    key,
    headers: { 'SVC-PROXY-KEY': proxy.key },
    body: { value: `{{${token.body.id}}}` },
  });
  expect(answer.status).toBe(200);
  await eventually('the sweeps have run', async () =>
    /^sluice_sweep_duration_seconds_count\{sweep="figures"\} [1-9]/m.test(await platform.metricsOf('worker')),
  );
}

test.each(committedFiles)('$file.pathname is what the program makes', ({ file, text }) => {
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('Prometheus takes every query of a dashboard', async () => {
  await using closing = new AsyncDisposableStack();
  const check = async (queries: readonly string[]) => {
    const rules = queries.map((expr, i) => ({ record: `dashboard:query_${i}`, expr }));
    const file = join(await openTemporaryFolder(closing, 'queries'), 'rules.yml');
    await writeFile(file, stringify({ groups: [{ name: 'dashboards', rules }] }));
    return promtool(['check', 'rules', '--lint=none', file]);
  };
  expect(await check(dashboardQueries())).toMatchObject({ status: 0 });
  expect(await check(['sum(sluice_ready'])).toMatchObject({ status: 1 });
});

test('Prometheus takes every alert, and each says what to do', async () => {
  const path = fileURLToPath(alertsFile);
  expect(await promtool(['check', 'rules', '--lint=all', '--lint-fatal', path])).toMatchObject({ status: 0 });
  const rules = readAlerts();
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  const advice = expect.stringMatching(/\w.{20,}[.;:]/s);
  for (const rule of rules) {
    expect(rule).toMatchObject({
      alert: expect.stringMatching(/^Sluice[A-Z][A-Za-z]+$/),
      for: expect.stringMatching(/^\d+[smh]$/),
      labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
      annotations: { summary: expect.stringMatching(/./), what_to_do: advice },
    });
  }
});

interface UnitTests {
  tests: {
    alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[];
    promql_expr_test?: { expr: string; exp_samples: unknown[] }[];
  }[];
}

test('every alert fires where it should, and only there', async () => {
  const file = fileURLToPath(new URL('alerts.test.yml', alertsFile));
  expect(await promtool(['test', 'rules', file])).toMatchObject({ status: 0 });
  const { tests }: UnitTests = parse(readFileSync(file, 'utf8'));
  const expected = tests.flatMap(({ alert_rule_test = [], promql_expr_test = [] }) => [
    ...alert_rule_test.map(({ alertname, exp_alerts }) => ({ alertname, fires: exp_alerts.length > 0 })),
    ...promql_expr_test.map(({ expr, exp_samples }) => ({
      alertname: /ALERTS\{alertname="(\w+)"/.exec(expr)?.[1],
      fires: exp_samples.length > 0,
    })),
  ]);
  for (const { alert } of readAlerts()) {
    for (const fires of [true, false]) expect(expected).toContainEqual({ alertname: alert, fires });
  }
});

test('every name in a query is exported', () => {
  const queries = [...dashboardQueries(), ...readAlerts().map(({ expr = '' }) => expr)];
  for (const query of queries) expect([query, unknownNames(query, exported.current.all)]).toEqual([query, []]);
});

test.each([
  ['sum(sluice_cache_entris)', 'sluice_cache_entris'],
  ['rate(sluice_invocation_duration_seconds[5m])', 'sluice_invocation_duration_seconds'],
  ['time() - max by (sweep) (sluce_sweep)', 'sluce_sweep'],
  ['sluice_cache_entries{cahce="x"}', 'cahce'],
  ['sum by (job, tenant) (sluice_cache_entries)', 'tenant'],
  ['sluice_ready and on(versoin) sluice_draining', 'versoin'],
])('a name that is not exported is found in %s', (query, name) => {
  expect(unknownNames(query, exported.current.all)).toEqual([name]);
});

test('every metric of ours is in a dashboard or an alert', () => {
  const queries = [...committedFiles.map(({ text }) => text), JSON.stringify(readAlerts())].join('\n');
  const own = [...exported.current.all.families.keys()].filter((name) => name.startsWith('sluice_'));
  expect(own.filter((name) => !queries.includes(name))).toEqual([]);
});

test('Prometheus reads what is exported, and our names and units are as it asks for', async () => {
  for (const service of serviceNames) {
    const { output, status } = await promtool(['check', 'metrics'], await exported.current.platform.metricsOf(service));
    expect([0, 3]).toContain(status); // 3: advice, also about metrics of Node.js
    expect(output.split('\n').filter((line) => line.startsWith('sluice_'))).toEqual([]);
  }
  const [bad, unreadable] = ['# TYPE sluice_x_ms counter\nsluice_x_ms 1\n', 'sluice_x{a="b" 1\n'];
  expect((await promtool(['check', 'metrics'], bad)).output).toMatch(/^sluice_x_ms /m);
  expect(await promtool(['check', 'metrics'], unreadable)).toMatchObject({ status: 1 });
});

test('the lists of METRICS.md are what is exported', () => {
  expect(listIn(readFileSync(metricsDocument, 'utf8'))).toBe(metricsList(exported.current.of));
});

test('requests are counted by operation, and none is left under way', async () => {
  const { platform } = exported.current;
  const text = await platform.metricsOf('token-vault');
  expect(text).toMatch(
    /^sluice_http_request_duration_seconds_count\{operation="POST \/tokens",status_class="2xx"\} 1$/m,
  );
  expect(text).toMatch(/^sluice_http_requests_in_flight 0$/m);
  await platform.call('GET', '/tokens/none', { key: 'no key' });
  expect(await platform.metricsOf('token-vault')).toMatch(/^sluice_http_errors_total\{code="unauthenticated"\} 1$/m);
});

test('invocations that fail are counted by code, and those whose caller left', async () => {
  const { platform } = exported.current;
  await using closing = new AsyncDisposableStack();
  const leaving = new AbortController();
  const destination_url = await serveHttp(closing, () => leaving.abort()); // it never answers
  const proxy = await platform.create('/proxies', { name: 'silent', destination_url, require_auth: false });
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  await expect(fetch(`${platform.stack.baseUrl}/proxy`, { headers, signal: leaving.signal })).rejects.toThrow('abort');
  const unknown = { 'SVC-PROXY-KEY': 'unknown' };
  const { proxy_error } = (await platform.call('GET', '/proxy', { headers: unknown })).body;
  const code = proxy_error.type.replace('urn:sluice:problem:', '');
  for (const counted of ['caller_gone', code]) {
    const line = new RegExp(`^sluice_invocation_errors_total\\{code="${counted}"\\} 1$`, 'm');
    await eventually(counted, async () => line.test(await platform.metricsOf('proxy-gateway')));
  }
});

test('no label of ours is an id', async () => {
  const { platform } = exported.current;
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
  for (const service of serviceNames) expect(await platform.metricsOf(service)).not.toMatch(uuid);
});
