export const bodyBytesSettings = {
  BODY_HELD_BYTES: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'Memory for buffered bodies and responses in one process, in bytes, with copies and what is parsed of ' +
      'them. When it is used up, requests wait, their bodies unread. 0: 40 % of the memory limit of a ' +
      'gateway, 25 % of that of another process',
  },
  BODY_HELD_TENANT_BYTES: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'The same for one Tenant, in bytes; 0: half of it',
  },
  BODY_WAIT_MS: {
    type: 'integer',
    minimum: 1,
    default: 20_000,
    description: 'How long a body or a response waits for memory before the request is answered 503, in milliseconds',
  },
} as const;
