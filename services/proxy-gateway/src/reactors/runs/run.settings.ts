export const runSettings = {
  REACTOR_RUN_LEASE_MS: {
    type: 'integer',
    minimum: 1000,
    default: 15_000,
    description:
      'A gateway renews the leases of its asynchronous runs. If it has not done so for this time, another gateway starts these runs again. Runs that may have called another service fail instead',
  },
  REACTOR_RUNS_WAITING: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 1000,
    description: 'Limit of queued asynchronous runs of one Tenant. If it is exceeded, the response is 429',
  },
  REACTOR_RESULTS_TENANT_BYTES: {
    type: 'integer',
    minimum: 1024,
    default: 256 * 1024 * 1024,
    description:
      'Limit of the stored results and console text of all runs of one Tenant. If it is exceeded, the response of react-async is 429',
  },
} as const;
