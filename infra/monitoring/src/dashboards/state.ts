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
          title: 'Hit rate',
          unit: 'percentunit',
          queries: {
            '{{job}} {{cache}}':
              'sum by (job, cache) (rate(sluice_cache_requests_total{$scope,result="hit"}[$__rate_interval])) / sum by (job, cache) (rate(sluice_cache_requests_total{$scope}[$__rate_interval]))',
          },
        },
        {
          title: 'Entries',
          unit: 'short',
          queries: { '{{job}} {{cache}}': 'sum by (job, cache) (sluice_cache_entries{$scope})' },
        },
        {
          title: 'Memory',
          unit: 'bytes',
          queries: { '{{job}} {{cache}}': 'sum by (job, cache) (sluice_cache_bytes{$scope})' },
        },
        {
          title: 'Dropped by changes',
          unit: 'ops',
          queries: { '{{cache}}': rate('sluice_cache_dropped_entries_total', 'cache') },
        },
        {
          title: 'Lease: valid for',
          unit: 's',
          description: 'At 0 every look-up goes to Postgres',
          queries: { '{{job}} {{instance}}': 'sluice_cache_lease_remaining_seconds{$scope}' },
        },
        {
          title: 'Leases: renewals that failed, and losses',
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
            '{{service}}, of a version before': 'max by (service) (sluice_cache_leases_outdated)',
          },
        },
      ],
    },
    {
      title: 'Confirmation of changes',
      panels: [
        {
          title: 'Wait until no process serves the old state',
          unit: 's',
          queries: {
            p50: 'histogram_quantile(0.5, sum by (le) (rate(sluice_change_confirmation_seconds_bucket{$scope}[$__rate_interval])))',
            p99: 'histogram_quantile(0.99, sum by (le) (rate(sluice_change_confirmation_seconds_bucket{$scope}[$__rate_interval])))',
          },
        },
        {
          title: 'Outbox',
          unit: 'short',
          queries: {
            'changes that wait': 'max(sluice_changes_waiting)',
            'age of the oldest in seconds': 'max(sluice_changes_oldest_age_seconds)',
          },
        },
        {
          title: 'By the slow way',
          unit: 'ops',
          queries: {
            'posted to mailboxes': 'sum(rate(sluice_changes_posted_to_mailboxes_total{$scope}[$__rate_interval]))',
            'waited for a lease to run out': 'sum(rate(sluice_cache_leases_deleted_total{$scope}[$__rate_interval]))',
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
          title: 'Oldest job that is due',
          unit: 's',
          queries: { '{{queue}}': 'max by (queue) (sluice_queue_oldest_job_age_seconds)' },
        },
        {
          title: 'Jobs',
          unit: 'ops',
          queries: {
            '{{queue}} done': rate('sluice_jobs_completed_total', 'queue'),
            '{{queue}} failed': rate('sluice_job_failures_total', 'queue'),
          },
        },
        {
          title: 'Overdue',
          unit: 's',
          description: 'How long ago the oldest row should have been deleted',
          queries: { '{{kind}}': 'max by (kind) (sluice_overdue_seconds)' },
        },
        {
          title: 'Runs of reactors: waiting, and lost in an hour',
          unit: 'short',
          queries: {
            waiting: 'max(sluice_reactor_runs_waiting)',
            'oldest, seconds': 'max(sluice_reactor_runs_oldest_age_seconds)',
            '{{outcome}}': 'sum by (outcome) (increase(sluice_reactor_runs_lost_total{$scope}[1h]))',
          },
        },
        {
          title: 'Lag of expiry, 99th percentile',
          unit: 's',
          queries: {
            applications:
              'histogram_quantile(0.99, sum by (le) (rate(sluice_application_expiry_lag_seconds_bucket{$scope}[$__rate_interval])))',
          },
        },
        {
          title: 'Sweeps: since the last, and failures in an hour',
          unit: 'short',
          queries: {
            '{{sweep}}, seconds': 'time() - max by (sweep) (sluice_sweep_last_success_timestamp_seconds)',
            '{{sweep}} failed': 'sum by (sweep) (increase(sluice_sweep_failures_total{$scope}[1h])) > 0',
          },
        },
        {
          title: 'Sweeps: mean duration',
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
          title: 'Encryptions left on the most used data key',
          unit: 'short',
          description: 'At 0 it is replaced by itself',
          queries: { left: 'max(sluice_data_key_encryptions_limit) - max(sluice_data_key_encryptions_max)' },
        },
        {
          title: 'Age of the oldest data key in use',
          unit: 's',
          queries: { age: 'max(sluice_data_key_oldest_age_seconds)' },
        },
        {
          title: 'What does not open',
          unit: 'short',
          description: 'Data or keys in Postgres that are not what was written; an incident',
          queries: { '{{job}}': 'sum by (job) (increase(sluice_integrity_failures_total{$scope}[1h]))' },
        },
        {
          title: 'Disclosures that are not in Postgres yet',
          unit: 'short',
          queries: {
            '{{job}} {{state}}': 'sum by (job, state) (sluice_disclosure_queue_rows{$scope})',
            '{{job}} limit of a process': 'max by (job) (sluice_disclosure_queue_limit_rows{$scope})',
          },
        },
        {
          title: 'Keys whose last use is not in Postgres yet',
          unit: 'short',
          description: 'Written once a minute; they wait while writes fail',
          queries: {
            '{{job}}': 'sum by (job) (sluice_key_uses_waiting{$scope})',
            '{{job}} failed writes': 'sum by (job) (increase(sluice_key_use_failed_writes_total{$scope}[5m]))',
          },
        },
        {
          title: 'Rows that wait for the ledger',
          unit: 'short',
          description: 'Each is in the tree within two seconds',
          queries: {
            rows: 'max(sluice_ledger_waiting_rows)',
            'seconds since the oldest came': 'max(sluice_ledger_oldest_age_seconds)',
          },
        },
        {
          title: 'Ledgers ahead of their witness, rows without a month',
          unit: 'short',
          queries: {
            'ledgers whose newest checkpoint no witness has': 'max(sluice_ledger_unwitnessed)',
            'rows in the default partition': 'max(sluice_audit_log_default_rows)',
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
          title: 'Ready, draining',
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
          title: 'Event loop lag, 99th percentile',
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
          title: "Connections of the Tenant with most, part of a Tenant's share",
          unit: 'percentunit',
          description: 'At 1 this Tenant waits before the pool, and others do not',
          queries: {
            '{{job}} {{instance}}':
              'sluice_postgres_busiest_tenant_connections{$scope} / clamp_min(floor(sluice_postgres_pool_size{$scope} / 2), 1)',
          },
        },
        {
          title: 'Spans, where traces are on',
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
