import { defaultSuspension, transformSettings as limitSettings } from '@sluice/sandbox';

export const transformSettings = {
  TRANSFORM_THREADS: {
    type: 'integer',
    minimum: 1,
    maximum: 256,
    default: 3,
    description: 'Threads that run transforms; one Tenant holds all but one of them at most',
  },
  TRANSFORM_QUEUE_LIMIT: {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Most batches of transforms that wait for a thread; quick runs of one transform share one',
  },
  ...limitSettings,
  TRANSFORM_BREAKER_KILLS: {
    type: 'integer',
    minimum: 0,
    maximum: 1000,
    default: defaultSuspension.kills,
    description: 'A transform is suspended after this many kills within the window; 0: never',
  },
  TRANSFORM_BREAKER_WINDOW_MS: {
    type: 'integer',
    minimum: 1,
    default: defaultSuspension.windowMs,
    description: 'The window in which kills are counted, in milliseconds',
  },
  TRANSFORM_BREAKER_OPEN_MS: {
    type: 'integer',
    minimum: 1,
    default: defaultSuspension.suspendMs,
    description: 'How long a transform is suspended before it is tried again, in milliseconds',
  },
  TRANSFORM_CONSOLE: {
    type: 'string',
    enum: ['redacted', 'off'],
    default: 'redacted',
    description: 'Whether the log gets what transforms print, without the secrets that are known, or nothing of it',
  },
} as const;
