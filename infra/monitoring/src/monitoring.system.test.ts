import { readFileSync } from 'node:fs';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import { type AlertRule, alertFaults, readAlerts } from './alert-faults.ts';
import { dashboardFaults, type GrafanaDashboard, type GrafanaPanel } from './dashboard-faults.ts';
import { committedFiles } from './dashboards/committed.ts';
import { type ExportedMetrics, readExported } from './exported-metrics.ts';
import { queryFaults } from './query-faults.ts';
import { alertsTable, documents, metricsTable, type TableName, tableIn } from './tables.ts';
import { type RunningPlatform, serviceNames, startDestination, startPlatform } from './testing/running-platform.ts';

/** What the real services export after the least traffic that touches every part; spans go nowhere. */
const exported = useStack(async (closing) => {
  const platform = await startPlatform(closing, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
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

const readDashboard = (file: URL): GrafanaDashboard => JSON.parse(readFileSync(file, 'utf8'));

test.each(committedFiles)(
  '$file.pathname is what the program makes, and Grafana can show all of it',
  ({ file, text }) => {
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(dashboardFaults(readDashboard(file), exported.current.all)).toEqual([]);
  },
);

test('every alert can fire, and says what to do', () => {
  expect(alertFaults(readAlerts(), exported.current.all)).toEqual([]);
});

test('every metric of ours is in a dashboard or an alert', () => {
  const queries = [...committedFiles.map(({ text }) => text), JSON.stringify(readAlerts())].join('\n');
  const own = [...exported.current.all.families.keys()].filter((name) => name.startsWith('sluice_'));
  expect(own.filter((name) => !queries.includes(name))).toEqual([]);
});

test('names and units are as Prometheus asks for', () => {
  const faults = [...exported.current.all.families]
    .filter(([name]) => name.startsWith('sluice_'))
    .flatMap(([name, { type, help }]) => [
      ...((type === 'counter') === name.endsWith('_total') ? [] : [`${name} is a ${type}`]),
      ...(/_(ms|milliseconds|minutes|kb|kib)(_|$)/.test(name) ? [`${name} is not in base units`] : []),
      ...(help.length > 10 ? [] : [`${name} has no help`]),
    ]);
  expect(faults).toEqual([]);
});

test('the tables of the documents are what is exported, and what the alerts say', () => {
  const written = (name: TableName) => tableIn(readFileSync(documents[name], 'utf8'), name);
  expect(written('metrics')).toBe(metricsTable(exported.current.of));
  expect(written('alerts')).toBe(alertsTable(readAlerts()));
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

describe('a fault of a query is found:', () => {
  test.each([
    ['sum(sluice_cache_entris)', 'nobody exports sluice_cache_entris'],
    ['rate(sluice_invocation_duration_seconds[5m])', 'nobody exports sluice_invocation_duration_seconds'],
    ['sluice_cache_entries{cahce="x"}', 'sluice_cache_entries has no label cahce'],
    ['sum by (tenant) (sluice_cache_entries)', 'sluice_cache_entries has no label tenant'],
    ['sluice_ready and on(version) sluice_draining', 'sluice_ready has no label version'],
    ['sum(sluice_ready', 'is no PromQL at 16: '],
    ['sluice_ready sluice_draining', 'is no PromQL at 13: sluice_draining'],
    ['{job="worker"}', 'names no metric: {job="worker"}'],
    ['histogram_quantile(0.9, sum(sluice_change_confirmation_seconds_bucket))', 'histogram_quantile needs le'],
    [
      'histogram_quantile(0.9, sum by (job) (sluice_change_confirmation_seconds_bucket))',
      'histogram_quantile needs le',
    ],
    ['histogram_quantile(0.9, sluice_ready)', 'histogram_quantile needs a _bucket'],
  ])('%s', (query, fault) => {
    expect(queryFaults(query, exported.current.all)).toContain(fault);
  });
});

describe('a fault of a dashboard is found:', () => {
  const [first] = committedFiles;
  const panelOf = ({ panels = [] }: GrafanaDashboard): GrafanaPanel => {
    const panel = panels.find(({ type }) => type === 'timeseries');
    if (!panel) throw new Error('there is no panel');
    return panel;
  };
  const change: Record<string, [change: (dashboard: GrafanaDashboard) => void, fault: RegExp]> = {
    'no schema version': [(dashboard) => delete dashboard.schemaVersion, /^has no schemaVersion$/],
    'two panels with one id': [({ panels = [] }) => void panels.push({ ...panels[1] }), /^two panels have one id$/],
    'panels one above the other': [
      ({ panels = [] }) => void panels.push({ ...panels[1], id: 999 }),
      /^By status: overlaps another$/,
    ],
    'a panel beside the grid': [
      (dashboard) => Object.assign(panelOf(dashboard), { gridPos: { x: 20, y: 0, w: 8, h: 8 } }),
      /is nowhere on the grid$/,
    ],
    'another datasource': [
      (dashboard) => Object.assign(panelOf(dashboard), { datasource: { type: 'prometheus', uid: 'other' } }),
      /has another datasource than prometheus$/,
    ],
    'a panel without a query': [(dashboard) => Object.assign(panelOf(dashboard), { targets: [] }), /has no query$/],
    'a metric that is not there': [
      (dashboard) => Object.assign(panelOf(dashboard).targets?.[0] ?? {}, { expr: 'rate(sluice_requests_total[5m])' }),
      /: nobody exports sluice_requests_total$/,
    ],
    'a variable over a metric that is not there': [
      ({ templating }) =>
        Object.assign(templating?.list?.[0] ?? {}, { query: { query: 'label_values(nothing, job)' } }),
      /^variable job: nobody exports nothing$/,
    ],
  };

  test.each(Object.keys(change))('%s', (name) => {
    const [apply, fault] = change[name] ?? [];
    if (!first || !fault) throw new Error('there is nothing to change');
    const dashboard = readDashboard(first.file);
    apply?.(dashboard);
    expect(dashboardFaults(dashboard, exported.current.all)).toContainEqual(expect.stringMatching(fault));
  });
});

describe('a fault of an alert is found:', () => {
  const change: Record<string, [change: (rule: AlertRule) => void, fault: string]> = {
    'no for': [(rule) => delete rule.for, 'SluiceTargetDown: has no for'],
    'a severity that nobody routes': [
      (rule) => Object.assign(rule, { labels: { severity: 'high' } }),
      'SluiceTargetDown: has a severity that is not critical or warning',
    ],
    'no summary': [(rule) => delete rule.annotations?.summary, 'SluiceTargetDown: has no summary'],
    'no advice': [(rule) => delete rule.annotations?.what_to_do, 'SluiceTargetDown: does not say what to do'],
    'a metric that is not there': [
      (rule) => Object.assign(rule, { expr: 'sluice_down == 1' }),
      'SluiceTargetDown: nobody exports sluice_down',
    ],
    'a name that is there twice': [
      (rule) => Object.assign(rule, { alert: 'SluiceNotReady' }),
      'there are two SluiceNotReady',
    ],
  };

  test.each(Object.keys(change))('%s', (name) => {
    const [apply, fault] = change[name] ?? [];
    const file = readAlerts();
    const rule = file.groups[0]?.rules[0];
    if (!rule || !apply) throw new Error('there is nothing to change');
    apply(rule);
    expect(alertFaults(file, exported.current.all)).toContain(fault);
  });
});

test('a line that Prometheus would not read is a fault', () => {
  expect(() => readExported(['sluice_x{a="b" 1'])).toThrow('no line of the text format');
});
