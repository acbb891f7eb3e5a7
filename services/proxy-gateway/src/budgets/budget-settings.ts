import { bodyBytesSettings } from '@sluice/body-bytes';

const count = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const;
const bytes = { type: 'integer', minimum: 1024 } as const;

export const budgetSettings = {
  ...bodyBytesSettings,
  BODY_TIMEOUT_MS: {
    type: 'integer',
    minimum: 1,
    default: 120_000,
    description:
      'How long a body that is held may take to come, in milliseconds, less what it waits for room; beyond 408, or, ' +
      'where no transform is to see it, it streams',
  },
  FORM_MAX_PAIRS: {
    ...count,
    default: 10_000,
    description:
      'Most pairs of a form that a transform sees or returns; beyond 400 for a request, 502 for an answer, 500 for a result',
  },
  BODY_MAX_EXPRESSIONS: {
    ...count,
    default: 10_000,
    description: 'Most expressions of a body that is held, with those that its transforms detokenize; beyond 400',
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
