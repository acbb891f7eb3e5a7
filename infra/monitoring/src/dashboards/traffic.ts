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
          title: 'By what they need',
          unit: 'reqps',
          description: 'forward: nothing; detokenize: values of tokens; transform: code of the Tenant',
          queries: { '{{route}}': rate(`${invocations}_count`, 'route') },
        },
        {
          title: 'Errors of ours, by code',
          unit: 'reqps',
          description: 'Answers with proxy_error, and callers that went away',
          queries: { '{{code}}': `${rate('sluice_invocation_errors_total', 'code')} > 0` },
        },
        {
          title: 'Duration, all in all',
          unit: 's',
          queries: { p50: quantile(0.5, invocations, ''), p99: quantile(0.99, invocations, '') },
        },
        {
          title: 'Duration by stage, 99th percentile',
          unit: 's',
          description: 'All but destination is ours',
          queries: { '{{stage}}': quantile(0.99, stages, ', stage') },
        },
        {
          title: 'In flight',
          unit: 'short',
          description: 'What autoscaling of gateways goes by',
          queries: { '{{instance}}': 'sum by (instance) (sluice_invocations_in_flight{$scope})' },
        },
        {
          title: 'Refused by limits',
          unit: 'reqps',
          description:
            'Bodies, headers, expressions, pairs, codings and loops are what one request brings: its sender acts',
          queries: { '{{limit}}': `${rate('sluice_limit_refusals_total', 'limit')} > 0` },
        },
        {
          title: 'Destinations',
          unit: 'short',
          queries: {
            'calls that wait for a connection': 'sum(sluice_destination_waiting_calls{$scope})',
            'look-ups under way': 'sum(sluice_destination_lookups_under_way{$scope})',
            'look-ups that wait': 'sum(sluice_destination_waiting_lookups{$scope})',
            'names remembered': 'sum(sluice_destination_remembered_names{$scope})',
          },
        },
        {
          title: 'Memory of bodies and answers',
          unit: 'bytes',
          queries: {
            '{{instance}}': 'sum by (instance) (sluice_body_held_bytes{$scope})',
            'limit of {{instance}}': 'sum by (instance) (sluice_body_limit_bytes{$scope})',
          },
        },
        {
          title: 'Bodies and answers that wait for memory',
          unit: 'short',
          queries: { '{{instance}}': 'sum by (instance) (sluice_body_waiting{$scope})' },
        },
        {
          title: 'Rate limits decided without Redis',
          unit: 'reqps',
          queries: { '{{instance}}': rate('sluice_rate_limit_local_decisions_total', 'instance') },
        },
        {
          title: 'Not shown by GET /invocations',
          unit: 'ops',
          queries: {
            'more than a flush takes': 'sum(rate(sluice_invocation_feed_left_out_total{$scope}[$__rate_interval]))',
            'not taken by Redis': 'sum(rate(sluice_invocation_feed_lost_total{$scope}[$__rate_interval]))',
          },
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
          title: 'In flight, and not answered behind the ingress',
          unit: 'short',
          queries: {
            '{{job}}': 'sum by (job) (sluice_http_requests_in_flight{$scope})',
            'exports and event streams of {{job}}': 'sum by (job) (sluice_streams{$scope})',
            'no answer of {{upstream}} per second': rate('sluice_ingress_failures_total', 'upstream'),
          },
        },
        {
          title: 'Limits of sessions',
          unit: 'reqps',
          description:
            'ended: waiting sessions, for newer ones. refused: authorizations, because the Tenant has its most',
          queries: { '{{outcome}}': rate('sluice_session_limit_total', 'outcome') },
        },
        {
          title: 'Tokens with public keys refused',
          unit: 'reqps',
          description: 'By the limit: tokens or bytes of an Application, of an address',
          queries: { '{{limit}}': rate('sluice_public_token_refusals_total', 'limit') },
        },
        {
          title: 'Failed sign-ins',
          unit: 'reqps',
          description:
            'failed: links and keys that are not valid. refused: not looked at, because their address failed too often',
          queries: { '{{outcome}}': rate('sluice_failed_sign_ins_total', 'outcome') },
        },
      ],
    },
    codeRow('transform'),
    codeRow('reactor', {
      title: 'Places for runs',
      unit: 'short',
      description: 'A run of a reactor has a place. Refused: calls of react for whose Tenant none was free',
      queries: {
        taken: 'sum(sluice_reactor_places_taken{$scope})',
        'refused each second': 'sum(rate(sluice_reactor_place_refusals_total{$scope}[$__rate_interval]))',
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
          up: `sum(${metric('threads')})`,
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
        title: 'Mean of a run',
        unit: 's',
        queries: {
          'in its thread': `${each('wall_seconds_total')} / ${each('runs_total')}`,
          'CPU time': `${each('cpu_seconds_total')} / ${each('runs_total')}`,
        },
      },
      {
        title: 'Stopped, by limit',
        unit: 'ops',
        queries: { '{{limit}}': `${rate(`sluice_${kind}_stops_total`, 'limit')} > 0` },
      },
      {
        title: 'Suspended',
        unit: 'short',
        queries: {
          now: `sum(${metric('suspended')})`,
          'began in the last hour': `sum(increase(${metric('suspensions_total')}[1h]))`,
        },
      },
      {
        title: 'Memory of loaded code',
        unit: 'bytes',
        description: 'Of one process. Transforms and reactors together may take a sixth of its memory limit',
        queries: { 'largest process': `max(${metric('warm_bytes')})` },
      },
    ],
  };
}
