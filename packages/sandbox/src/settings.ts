import { defaultTransformLimits, type TransformLimits } from './limits.ts';

const milliseconds = { type: 'integer', minimum: 1 } as const;
const bytes = { type: 'integer', minimum: 1024 } as const;

export const transformSettings = {
  TRANSFORM_CPU_MS: {
    ...milliseconds,
    default: defaultTransformLimits.cpuMs,
    description: 'CPU time of one transform',
  },
  TRANSFORM_WALL_MS: {
    ...milliseconds,
    default: defaultTransformLimits.wallMs,
    description: 'Duration of one transform',
  },
  TRANSFORM_HEAP_BYTES: {
    ...bytes,
    default: defaultTransformLimits.heapBytes,
    description: 'Memory of one transform',
  },
  TRANSFORM_STACK_BYTES: {
    ...bytes,
    default: defaultTransformLimits.stackBytes,
    description: 'Stack of one transform',
  },
  TRANSFORM_OUTPUT_BYTES: {
    ...bytes,
    default: defaultTransformLimits.outputBytes,
    description: 'Result of one transform',
  },
  TRANSFORM_HOST_CALLS: {
    type: 'integer',
    minimum: 0,
    default: defaultTransformLimits.hostCalls,
    description: 'Calls of `svc` by one transform',
  },
  TRANSFORM_FIELD_ERRORS: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    default: defaultTransformLimits.fieldErrors,
    description: 'Field errors of a thrown error that are kept',
  },
  TRANSFORM_CONSOLE_BYTES: {
    type: 'integer',
    minimum: 0,
    default: defaultTransformLimits.consoleBytes,
    description: 'Console text that is kept of one transform',
  },
} as const;

export function transformLimitsFrom(config: Readonly<Record<keyof typeof transformSettings, number>>): TransformLimits {
  return {
    ...defaultTransformLimits,
    cpuMs: config.TRANSFORM_CPU_MS,
    wallMs: config.TRANSFORM_WALL_MS,
    heapBytes: config.TRANSFORM_HEAP_BYTES,
    stackBytes: config.TRANSFORM_STACK_BYTES,
    outputBytes: config.TRANSFORM_OUTPUT_BYTES,
    hostCalls: config.TRANSFORM_HOST_CALLS,
    fieldErrors: config.TRANSFORM_FIELD_ERRORS,
    consoleBytes: config.TRANSFORM_CONSOLE_BYTES,
  };
}
