import type { Dashboard } from './dashboard.ts';

const rate = (metric: string, by: string) => `sum by (${by}) (rate(${metric}{$scope}[$__rate_interval]))`;

export const state: Dashboard = {
  uid: 'sluice-state',
  title: 'Sluice: state',
  rows: [
    {
      title: 'Caches and leases',
      panels: [
        {
          title: 'Cache hit rate',
          unit: 'percentunit',
          queries: {
            '{{job}} {{cache}}':
              'sum by (job, cache) (rate(sluice_cache_requests_total{$scope,result="hit"}[$__rate_interval])) / sum by (job, cache) (rate(sluice_cache_requests_total{$scope}[$__rate_interval]))',
          },
        },
        {
          title: 'Cached entries',
          unit: 'short',
          queries: { '{{job}} {{cache}}': 'sum by (job, cache) (sluice_cache_entries{$scope})' },
        },
        {
          title: 'Memory of caches',
          unit: 'bytes',
          queries: { '{{job}} {{cache}}': 'sum by (job, cache) (sluice_cache_bytes{$scope})' },
        },
        {
          title: 'Entries removed because of changes',
          unit: 'ops',
          queries: { '{{cache}}': rate('sluice_cache_dropped_entries_total', 'cache') },
        },
        {
          title: 'Remaining time of the lease',
          unit: 's',
          description: 'At 0 the caches are not used, and every look-up goes to Postgres',
          queries: { '{{job}} {{instance}}': 'sluice_cache_lease_remaining_seconds{$scope}' },
        },
        {
          title: 'Lost leases, and failed renewals',
          unit: 'ops',
          queries: {
            '{{job}} {{result}}':
              'sum by (job, result) (rate(sluice_cache_lease_renewals_total{$scope,result!="renewed"}[$__rate_interval]))',
          },
        },
        {
          title: 'Leases in Postgres',
          unit: 'short',
          queries: {
            '{{state}}': 'max by (state) (sluice_cache_leases)',
            '{{service}}, older version': 'max by (service) (sluice_cache_leases_outdated)',
          },
        },
      ],
    },
    {
      title: 'Confirmation of changes',
      panels: [
        {
          title: 'Time until no process serves the old state',
          unit: 's',
          queries: {
            p50: 'histogram_quantile(0.5, sum by (le) (rate(sluice_change_confirmation_seconds_bucket{$scope}[$__rate_interval])))',
            p99: 'histogram_quantile(0.99, sum by (le) (rate(sluice_change_confirmation_seconds_bucket{$scope}[$__rate_interval])))',
          },
        },
        {
          title: 'Changes that wait for a confirmation',
          unit: 'short',
          queries: {
            changes: 'max(sluice_changes_waiting)',
            'age of the oldest, seconds': 'max(sluice_changes_oldest_age_seconds)',
          },
        },
        {
          title: 'Slow confirmations',
          unit: 'ops',
          queries: {
            'posted to mailboxes': 'sum(rate(sluice_changes_posted_to_mailboxes_total{$scope}[$__rate_interval]))',
            'waited until a lease expired': 'sum(rate(sluice_cache_leases_deleted_total{$scope}[$__rate_interval]))',
            'not confirmed': 'sum(rate(sluice_changes_unconfirmed_total{$scope}[$__rate_interval]))',
          },
        },
      ],
    },
    {
      title: 'Jobs, sweeps and expiry (worker)',
      panels: [
        {
          title: 'Jobs by state',
          unit: 'short',
          queries: { '{{queue}} {{state}}': 'max by (queue, state) (sluice_queue_jobs)' },
        },
        {
          title: 'Waiting time of the oldest due job',
          unit: 's',
          queries: { '{{queue}}': 'max by (queue) (sluice_queue_oldest_job_age_seconds)' },
        },
        {
          title: 'Jobs',
          unit: 'ops',
          queries: {
            '{{queue}} completed': rate('sluice_jobs_completed_total', 'queue'),
            '{{queue}} failed': rate('sluice_job_failures_total', 'queue'),
          },
        },
        {
          title: 'Overdue deletions',
          unit: 's',
          description: 'Time since the oldest expired row should have been deleted',
          queries: { '{{kind}}': 'max by (kind) (sluice_overdue_seconds)' },
        },
        {
          title: 'Asynchronous runs: waiting, and lost in the last hour',
          unit: 'short',
          queries: {
            waiting: 'max(sluice_reactor_runs_waiting)',
            'waiting time of the oldest, seconds': 'max(sluice_reactor_runs_oldest_age_seconds)',
            '{{outcome}}': 'sum by (outcome) (increase(sluice_reactor_runs_lost_total{$scope}[1h]))',
          },
        },
        {
          title: 'Delay of deletions after expiry, 99th percentile',
          unit: 's',
          queries: {
            applications:
              'histogram_quantile(0.99, sum by (le) (rate(sluice_application_expiry_lag_seconds_bucket{$scope}[$__rate_interval])))',
          },
        },
        {
          title: 'Sweeps: time since the last success, and failures in the last hour',
          unit: 'short',
          queries: {
            '{{sweep}}, seconds': 'time() - max by (sweep) (sluice_sweep_last_success_timestamp_seconds)',
            '{{sweep}} failed': 'sum by (sweep) (increase(sluice_sweep_failures_total{$scope}[1h])) > 0',
          },
        },
        {
          title: 'Mean duration of sweeps',
          unit: 's',
          queries: {
            '{{sweep}}':
              'sum by (sweep) (rate(sluice_sweep_duration_seconds_sum{$scope}[$__rate_interval])) / sum by (sweep) (rate(sluice_sweep_duration_seconds_count{$scope}[$__rate_interval]))',
          },
        },
      ],
    },
    {
      title: 'Keys and audit log',
      panels: [
        {
          title: 'Remaining encryptions of the most used data key',
          unit: 'short',
          description: 'At 0 the key is replaced automatically',
          queries: { remaining: 'max(sluice_data_key_encryptions_limit) - max(sluice_data_key_encryptions_max)' },
        },
        {
          title: 'Age of the oldest data key in use',
          unit: 's',
          queries: { age: 'max(sluice_data_key_oldest_age_seconds)' },
        },
        {
          title: 'Integrity failures in the last hour',
          unit: 'short',
          description:
            'Data or keys in Postgres that differ from what was written. Treat each one as a security incident',
          queries: { '{{job}}': 'sum by (job) (increase(sluice_integrity_failures_total{$scope}[1h]))' },
        },
        {
          title: 'Disclosures waiting to be written to the audit log',
          unit: 'short',
          queries: {
            '{{job}} {{state}}': 'sum by (job, state) (sluice_disclosure_queue_rows{$scope})',
            '{{job}} limit of one process': 'max by (job) (sluice_disclosure_queue_limit_rows{$scope})',
          },
        },
        {
          title: 'Keys whose last use is not stored yet',
          unit: 'short',
          description: 'Last uses are written once a minute. If a write fails, they wait for the next one',
          queries: {
            '{{job}}': 'sum by (job) (sluice_key_uses_waiting{$scope})',
            '{{job}} failed writes': 'sum by (job) (increase(sluice_key_use_failed_writes_total{$scope}[5m]))',
          },
        },
        {
          title: 'Audit rows waiting for the ledger',
          unit: 'short',
          description: 'Each row should be in the ledger within two seconds',
          queries: {
            rows: 'max(sluice_ledger_waiting_rows)',
            'age of the oldest, seconds': 'max(sluice_ledger_oldest_age_seconds)',
          },
        },
        {
          title: 'Ledgers without a witness, audit rows without a partition',
          unit: 'short',
          queries: {
            'ledgers whose newest checkpoint the witness has not accepted': 'max(sluice_ledger_unwitnessed)',
            'audit rows in no monthly partition': 'max(sluice_audit_log_default_rows)',
          },
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Versions',
          unit: 'short',
          queries: { '{{job}} {{version}}': 'sum by (job, version) (sluice_build_info{$scope})' },
        },
        {
          title: 'Ready and draining processes',
          unit: 'short',
          queries: {
            '{{job}} ready': 'sum by (job) (sluice_ready{$scope})',
            '{{job}} draining': 'sum by (job) (sluice_draining{$scope}) > 0',
          },
        },
        {
          title: 'CPU',
          unit: 'short',
          queries: { '{{job}} {{instance}}': 'rate(process_cpu_seconds_total{$scope}[$__rate_interval])' },
        },
        {
          title: 'Memory',
          unit: 'bytes',
          queries: { '{{job}} {{instance}}': 'process_resident_memory_bytes{$scope}' },
        },
        {
          title: 'Lag of the event loop, 99th percentile',
          unit: 's',
          queries: { '{{job}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{$scope}' },
        },
        {
          title: 'Connections to Postgres',
          unit: 'short',
          queries: {
            '{{job}} {{state}}': 'sum by (job, state) (sluice_postgres_pool_connections{$scope})',
            '{{job}} waiting': 'sum by (job) (sluice_postgres_pool_waiting{$scope})',
            '{{job}} size': 'sum by (job) (sluice_postgres_pool_size{$scope})',
          },
        },
        {
          title: 'Connections of the busiest Tenant, as a part of its share',
          unit: 'percentunit',
          description: 'At 1 requests of this Tenant wait for a connection. Other Tenants are not affected',
          queries: {
            '{{job}} {{instance}}':
              'sluice_postgres_busiest_tenant_connections{$scope} / clamp_min(floor(sluice_postgres_pool_size{$scope} / 2), 1)',
          },
        },
        {
          title: 'Spans, if traces are enabled',
          unit: 'ops',
          queries: {
            '{{job}} {{result}}': rate('sluice_trace_spans_total', 'job, result'),
            '{{job}} waiting': 'sum by (job) (sluice_trace_queue_spans{$scope})',
          },
        },
      ],
    },
  ],
};
