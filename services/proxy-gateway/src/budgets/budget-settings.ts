const count = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const;
const bytes = { type: 'integer', minimum: 1024 } as const;

/** How large what one request brings may be where somebody has to take it apart. */
export const budgetSettings = {
  FORM_MAX_PAIRS: {
    ...count,
    default: 10_000,
    description:
      'Most pairs of a form that a transform sees or returns; beyond 400 for a request, 502 for an answer, 500 for a result',
  },
  TRANSFORM_HEADER_LINES: {
    ...count,
    default: 100,
    description: 'Most lines of headers that a transform returns; beyond 500',
  },
  TRANSFORM_REQUEST_HEADER_BYTES: {
    ...bytes,
    default: 16 * 1024,
    description: 'Size of the headers that a request transform returns, in bytes; beyond 500',
  },
  TRANSFORM_RESPONSE_HEADER_BYTES: {
    ...bytes,
    default: 64 * 1024,
    description: 'Size of the headers that a response transform returns, in bytes; beyond 500',
  },
} as const;
