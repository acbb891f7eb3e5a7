import { defaultTransformLimits, type TransformLimits } from './limits.ts';

const milliseconds = { type: 'integer', minimum: 1 } as const;
const bytes = { type: 'integer', minimum: 1024 } as const;

export const transformSettings = {
  TRANSFORM_CPU_MS: {
    ...milliseconds,
    default: defaultTransformLimits.cpuMs,
    description: 'Limit of CPU time of one run of code',
  },
  TRANSFORM_WALL_MS: {
    ...milliseconds,
    default: defaultTransformLimits.wallMs,
    description: 'Time limit of one run of a transform',
  },
  TRANSFORM_HEAP_BYTES: {
    ...bytes,
    default: defaultTransformLimits.heapBytes,
    description: 'Limit of memory of one run of code',
  },
  TRANSFORM_STACK_BYTES: {
    ...bytes,
    default: defaultTransformLimits.stackBytes,
    description: 'Limit of stack of one run of code',
  },
  TRANSFORM_OUTPUT_BYTES: {
    ...bytes,
    default: defaultTransformLimits.outputBytes,
    description: 'Limit of the result of one run of code',
  },
  TRANSFORM_HOST_CALLS: {
    type: 'integer',
    minimum: 0,
    default: defaultTransformLimits.hostCalls,
    description: 'Limit of calls of `svc` by one run of code',
  },
  TRANSFORM_FIELD_ERRORS: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    default: defaultTransformLimits.fieldErrors,
    description:
      'Limit of field errors in a response, if code throws an error with field errors. Further field errors are left out',
  },
  TRANSFORM_CONSOLE_BYTES: {
    type: 'integer',
    minimum: 0,
    default: defaultTransformLimits.consoleBytes,
    description: 'Limit of the console text that is stored of one run. The rest is cut off',
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
