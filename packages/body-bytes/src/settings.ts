export const bodyBytesSettings = {
  BODY_HELD_BYTES: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'Memory for buffered bodies and responses in one process; further requests wait. 0: 40 % of the memory ' +
      'limit in a gateway, 25 % elsewhere',
  },
  BODY_HELD_TENANT_BYTES: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'The same for one Tenant; 0: half',
  },
  BODY_WAIT_MS: {
    type: 'integer',
    minimum: 1,
    default: 20_000,
    description: 'Longest wait of a body or response for memory; otherwise 503',
  },
} as const;
