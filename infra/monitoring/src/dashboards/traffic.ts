import type { Dashboard, Row } from './dashboard.ts';

const quantile = (q: number, metric: string, by: string) =>
  `histogram_quantile(${q}, sum by (le${by}) (rate(${metric}_bucket{$scope}[$__rate_interval])))`;
const rate = (metric: string, by: string, labels = '') =>
  `sum by (${by}) (rate(${metric}{$scope${labels}}[$__rate_interval]))`;

const invocations = 'sluice_invocation_duration_seconds';
const stages = 'sluice_invocation_stage_duration_seconds';
const requests = 'sluice_http_request_duration_seconds';

export const traffic: Dashboard = {
  uid: 'sluice-traffic',
  title: 'Sluice: traffic',
  rows: [
    {
      title: 'Invocations (proxy-gateway)',
      panels: [
        {
          title: 'By status',
          unit: 'reqps',
          queries: { '{{status_class}}': rate(`${invocations}_count`, 'status_class') },
        },
        {
          title: 'By the work they need',
          unit: 'reqps',
          description: 'forward: none. detokenize: values of tokens. transform: code of the Tenant',
          queries: { '{{route}}': rate(`${invocations}_count`, 'route') },
        },
        {
          title: 'Errors of Sluice, by code',
          unit: 'reqps',
          description: 'Responses with a proxy_error, and callers that disconnected',
          queries: { '{{code}}': `${rate('sluice_invocation_errors_total', 'code')} > 0` },
        },
        {
          title: 'Total duration',
          unit: 's',
          queries: { p50: quantile(0.5, invocations, ''), p99: quantile(0.99, invocations, '') },
        },
        {
          title: 'Duration by stage, 99th percentile',
          unit: 's',
          description: 'All stages but destination are work of Sluice',
          queries: { '{{stage}}': quantile(0.99, stages, ', stage') },
        },
        {
          title: 'In progress',
          unit: 'short',
          description: 'Autoscaling of gateways uses this number',
          queries: { '{{instance}}': 'sum by (instance) (sluice_invocations_in_flight{$scope})' },
        },
        {
          title: 'Values found by response guards',
          unit: 'short',
          description: 'Values of tokens and configurations that came back from destinations',
          queries: { '{{instance}}': `${rate('sluice_response_guard_hits_total', 'instance')}` },
        },
        {
          title: 'Refused by a limit',
          unit: 'reqps',
          description:
            'The limits of bodies, headers, expressions, pairs, codings and loops apply to one request. Its sender must change it',
          queries: { '{{limit}}': `${rate('sluice_limit_refusals_total', 'limit')} > 0` },
        },
        {
          title: 'Destinations',
          unit: 'short',
          queries: {
            'calls waiting for a connection': 'sum(sluice_destination_waiting_calls{$scope})',
            'name look-ups in progress': 'sum(sluice_destination_lookups_under_way{$scope})',
            'name look-ups waiting': 'sum(sluice_destination_waiting_lookups{$scope})',
            'cached names': 'sum(sluice_destination_remembered_names{$scope})',
          },
        },
        {
          title: 'Memory of bodies and responses',
          unit: 'bytes',
          queries: {
            '{{instance}}': 'sum by (instance) (sluice_body_held_bytes{$scope})',
            'limit of {{instance}}': 'sum by (instance) (sluice_body_limit_bytes{$scope})',
          },
        },
        {
          title: 'Bodies and responses waiting for memory',
          unit: 'short',
          queries: { '{{instance}}': 'sum by (instance) (sluice_body_waiting{$scope})' },
        },
        {
          title: 'Rate-limit decisions without Redis',
          unit: 'reqps',
          queries: { '{{instance}}': rate('sluice_rate_limit_local_decisions_total', 'instance') },
        },
        {
          title: 'Missing in GET /invocations',
          unit: 'ops',
          queries: {
            'over 1,000 of one Tenant between two flushes':
              'sum(rate(sluice_invocation_feed_left_out_total{$scope}[$__rate_interval]))',
            'Redis failed': 'sum(rate(sluice_invocation_feed_lost_total{$scope}[$__rate_interval]))',
          },
        },
        {
          title: 'Missing in GET /tenants/self/metrics',
          unit: 'ops',
          queries: {
            'failed writes': 'sum(rate(sluice_invocation_counts_failed_writes_total{$scope}[$__rate_interval]))',
            lost: 'sum(rate(sluice_invocation_counts_lost_total{$scope}[$__rate_interval]))',
          },
        },
        {
          title: 'Counts of invocations waiting for Postgres',
          unit: 'short',
          queries: { '{{instance}}': 'sum by (instance) (sluice_invocation_counts_waiting{$scope})' },
        },
      ],
    },
    {
      title: 'Requests (management-api, token-vault)',
      panels: [
        {
          title: 'By status',
          unit: 'reqps',
          queries: { '{{job}} {{status_class}}': rate(`${requests}_count`, 'job, status_class') },
        },
        {
          title: 'Busiest operations',
          unit: 'reqps',
          queries: { '{{operation}}': `topk(10, ${rate(`${requests}_count`, 'operation')})` },
        },
        {
          title: 'Errors by code',
          unit: 'reqps',
          queries: { '{{job}} {{code}}': `${rate('sluice_http_errors_total', 'job, code')} > 0` },
        },
        { title: 'Duration, 99th percentile', unit: 's', queries: { '{{job}}': quantile(0.99, requests, ', job') } },
        {
          title: 'Slowest operations, 99th percentile',
          unit: 's',
          queries: { '{{operation}}': `topk(10, ${quantile(0.99, requests, ', operation')})` },
        },
        {
          title: 'In progress, and without a response behind the ingress',
          unit: 'short',
          queries: {
            '{{job}}': 'sum by (job) (sluice_http_requests_in_flight{$scope})',
            'exports and event streams of {{job}}': 'sum by (job) (sluice_streams{$scope})',
            'no response from {{upstream}}, per second': rate('sluice_ingress_failures_total', 'upstream'),
          },
        },
        {
          title: 'Limits of sessions',
          unit: 'reqps',
          description:
            'ended: waiting sessions that newer ones replaced. refused: authorizations, because the Tenant has reached its limit of sessions',
          queries: { '{{outcome}}': rate('sluice_session_limit_total', 'outcome') },
        },
        {
          title: 'Requests with public keys refused',
          unit: 'reqps',
          description: 'Limits of tokens or bytes per minute, for one Application or one address',
          queries: { '{{limit}}': rate('sluice_public_token_refusals_total', 'limit') },
        },
        {
          title: 'Failed sign-ins',
          unit: 'reqps',
          description:
            'failed: the link or key is not valid. refused: not checked, because the address has failed too often',
          queries: { '{{outcome}}': rate('sluice_failed_sign_ins_total', 'outcome') },
        },
      ],
    },
    codeRow('transform'),
    codeRow('reactor', {
      title: 'Slots for runs',
      unit: 'short',
      description:
        'Each run of a reactor occupies a slot. Refused: calls of react, because no slot was free for their Tenant',
      queries: {
        taken: 'sum(sluice_reactor_places_taken{$scope})',
        'refused per second': 'sum(rate(sluice_reactor_place_refusals_total{$scope}[$__rate_interval]))',
      },
    }),
  ],
};

/** What one pool of threads for code does. */
function codeRow(kind: 'transform' | 'reactor', ...more: readonly Row['panels'][number][]): Row {
  const metric = (name: string) => `sluice_${kind}_${name}{$scope}`;
  const each = (name: string) => `sum(rate(${metric(name)}[$__rate_interval]))`;
  return {
    title: `${kind === 'transform' ? 'Transforms' : 'Reactors'} (proxy-gateway)`,
    panels: [
      {
        title: 'Threads',
        unit: 'short',
        queries: {
          threads: `sum(${metric('threads')})`,
          running: `sum(${metric('running')})`,
          waiting: `sum(${metric('waiting')})`,
        },
      },
      ...more,
      {
        title: 'Runs',
        unit: 'ops',
        queries: { runs: each('runs_total'), 'refused: suspended': each('suspended_runs_total') },
      },
      {
        title: 'Mean duration of a run',
        unit: 's',
        queries: {
          'in its thread': `${each('wall_seconds_total')} / ${each('runs_total')}`,
          'CPU time': `${each('cpu_seconds_total')} / ${each('runs_total')}`,
        },
      },
      {
        title: 'Runs stopped by a limit',
        unit: 'ops',
        queries: { '{{limit}}': `${rate(`sluice_${kind}_stops_total`, 'limit')} > 0` },
      },
      {
        title: 'Suspended code',
        unit: 'short',
        queries: {
          now: `sum(${metric('suspended')})`,
          'suspended in the last hour': `sum(increase(${metric('suspensions_total')}[1h]))`,
        },
      },
      {
        title: 'Memory of loaded code',
        unit: 'bytes',
        description: 'In one process. Transforms and reactors together may use a sixth of its memory limit',
        queries: { 'largest process': `max(${metric('warm_bytes')})` },
      },
    ],
  };
}
