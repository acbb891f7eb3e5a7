export const runSettings = {
  REACTOR_RUN_LEASE_MS: {
    type: 'integer',
    minimum: 1000,
    default: 15_000,
    description:
      'How long a gateway may show no sign of life before its asynchronous runs are lost, in milliseconds; they begin again, or ' +
      'have failed if they may have called out',
  },
  REACTOR_RUNS_WAITING: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: 1000,
    description: 'Most asynchronous runs of a Tenant that wait; otherwise 429',
  },
  REACTOR_RESULTS_TENANT_BYTES: {
    type: 'integer',
    minimum: 1024,
    default: 256 * 1024 * 1024,
    description:
      'Results and consoles of asynchronous runs that are kept for a Tenant, in bytes; at that size react-async is 429',
  },
} as const;
