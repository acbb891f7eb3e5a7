import type { ServiceError } from '@sluice/problems';
import {
  type ConsoleLine,
  type CustomHttpResponse,
  defaultTransformLimits,
  type LargeHeaps,
  openTransformPool,
  type SuspensionOptions,
  type TransformLimits,
  type TransformTask,
  type WarmMemory,
} from '../index.ts';

interface TestPoolOptions {
  limits?: Partial<TransformLimits>;
  threads?: number;
  queueLimit?: number;
  headerPrefix?: string;
  suspension?: SuspensionOptions;
  waitMs?: number;
  keepsThreads?: boolean;
  warm?: WarmMemory;
  largeHeaps?: LargeHeaps;
  everyRunHasSlot?: boolean;
}

/** Longer than any test, because a thread beside other work may get a second of CPU time in half a minute. */
const unboundedMs = 300_000;

/** Limits the clock only if the test says so. The shorthands run request transforms of one Tenant. */
export function openTestPool(options: TestPoolOptions = {}) {
  const { limits, threads = 1, queueLimit = 50, headerPrefix = 'SVC', suspension, waitMs = unboundedMs } = options;
  const { keepsThreads = false, everyRunHasSlot = false, warm, largeHeaps } = options;
  const printed: ConsoleLine[] = [];
  const faults: unknown[] = [];
  const pool = openTransformPool({
    limits: { ...defaultTransformLimits, cpuMs: 1_000, wallMs: unboundedMs, ...limits },
    threads,
    queueLimit,
    headerPrefix,
    ...{ keepsThreads, everyRunHasSlot },
    ...(suspension && { suspension }),
    ...(warm && { warm }),
    ...(largeHeaps && { largeHeaps }),
    waitMs,
    onFault: (error) => faults.push(error),
  });

  const versions = new Map<string, object>();
  /** The same code of a Tenant is one version, unless the task says otherwise. */
  const versionOf = (tenantId: string, code: string) => {
    const key = JSON.stringify([tenantId, code]);
    const version = versions.get(key) ?? {};
    versions.set(key, version);
    return version;
  };

  const run = (code: string, task: Partial<TransformTask> = {}) =>
    pool.run({
      tenantId: 'tenant',
      ownerId: 'proxy',
      version: versionOf(task.tenantId ?? 'tenant', code),
      kind: 'request',
      code,
      argsJson: '{"body":{"name":"Ann"},"headers":{"x-a":"1"}}',
      configuration: async () => '{"key":"value"}',
      onEnd: ({ console }) => printed.push(...console),
      ...task,
    });

  return {
    ...pool,
    engine: pool,
    printed,
    faults,
    run,
    started: async (): Promise<void> => {
      while (pool.state().running === 0) await new Promise((resolve) => setImmediate(resolve));
    },
    body: async (code: string, task?: Partial<TransformTask>): Promise<unknown> => {
      const { bodyJson } = await run(code, task);
      return bodyJson === undefined ? undefined : JSON.parse(bodyJson);
    },
    evaluate: async (code: string, task?: Partial<TransformTask>): Promise<unknown> => {
      const { bodyJson } = await run(
        `module.exports = async (req) => ({ body: await (async () => { ${code} })() })`,
        task,
      );
      return bodyJson === undefined ? undefined : JSON.parse(bodyJson);
    },
    failure: async (code: string, task?: Partial<TransformTask>): Promise<ServiceError & CustomHttpResponse> => {
      const result = await run(code, task).catch((error: unknown) => ({ error }));
      if ('error' in result) return result.error as ServiceError & CustomHttpResponse;
      throw new Error(`Expected a failure, got ${JSON.stringify(result)}`);
    },
  };
}
