export const runSettings = {
  REACTOR_RUN_LEASE_MS: {
    type: 'integer',
    minimum: 1000,
    default: 15_000,
    description:
      'Silence of a gateway after which its asynchronous runs begin again, or fail if they may have called out',
  },
  REACTOR_RUNS_WAITING: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 1000,
    description: 'Asynchronous runs of one Tenant that may wait; otherwise 429',
  },
  REACTOR_RESULTS_TENANT_BYTES: {
    type: 'integer',
    minimum: 1024,
    default: 256 * 1024 * 1024,
    description: 'Stored results and console text of one Tenant; beyond it react-async is 429',
  },
} as const;
