import { ServiceError } from '@sluice/problems';
import { TransformStopped } from '../../failure.ts';
import { defaultTransformLimits, type TransformLimits } from '../../limits.ts';
import { openTransformPool, type TransformPool } from '../../pool.ts';
import type { TransformTask } from '../../transform-task.ts';
import { quantile } from './good-load.ts';
import { hostileModule, hostilePrograms, hostileReactors } from './programs.ts';

export interface HostileRow {
  program: string;
  /** The limit; or `error` when the engine refused it with an error, `answered` when it was not stopped. */
  stoppedBy: string;
  detail: string;
  durationMs: number;
}

export interface GoodTraffic {
  invocations: number;
  lost: number;
  /** The wrong answer or the error of each that was lost. */
  losses: string[];
  p50Ms: number;
  p99Ms: number;
}

export interface HostileReport {
  rows: HostileRow[];
  limits: TransformLimits;
  alone: GoodTraffic;
  beside: GoodTraffic;
  /** How many threads broke while they had nothing to do. */
  faults: number;
}

/** Short limits, so that all programs together take half a minute. */
export const hostileLimits: Readonly<TransformLimits> = Object.freeze({
  ...defaultTransformLimits,
  cpuMs: 100,
  wallMs: 700,
  heapBytes: 32 * 2 ** 20,
  outputBytes: 100_000,
});

/** Each of them belongs to its own Tenant and has a slow thread, of which there are two fewer than quick threads. */
const atOnce = 2;
const pauseMs = 2;

export interface RunOptions {
  onRow?: (row: HostileRow) => void;
  limits?: TransformLimits;
}

/** Runs every hostile program, two at a time, while a good transform of another Tenant runs again and again. */
export async function runHostilePrograms({ onRow, limits = hostileLimits }: RunOptions = {}): Promise<HostileReport> {
  let faults = 0;
  const pool = openTransformPool({
    limits,
    threads: atOnce + 2,
    queueLimit: 100,
    waitMs: 10_000,
    headerPrefix: 'SVC',
    onFault: () => {
      faults += 1;
    },
  });
  try {
    await pool.ready();
    const alone = await goodTraffic(pool, new Promise((resolve) => setTimeout(resolve, 1_000)));
    const rows: HostileRow[] = [];
    const programs = Object.entries({ ...hostilePrograms, ...hostileReactors });
    const runNext = async (tenantId: string): Promise<void> => {
      const [program, statements] = programs.shift() ?? [];
      if (program === undefined || statements === undefined) return;
      const row = await runProgram(pool, tenantId, { program, statements });
      rows.push(row);
      onRow?.(row);
      return runNext(tenantId);
    };
    const beside = await goodTraffic(
      pool,
      Promise.all(Array.from({ length: atOnce }, (_, index) => runNext(`hostile ${index}`))),
    );
    return { rows, limits, alone, beside, faults };
  } finally {
    await pool.close();
  }
}

/** Answers the calls of the programs; a deletion never ends. */
const host = (operation: string, payloadJson: string): Promise<string> =>
  operation === 'tokens.delete' ? new Promise(() => {}) : Promise.resolve(payloadJson);

async function runProgram(
  pool: TransformPool,
  tenantId: string,
  { program, statements }: { program: string; statements: string },
): Promise<HostileRow> {
  let durationMs = 0;
  const task: TransformTask = {
    tenantId,
    ownerId: program,
    kind: Object.hasOwn(hostileReactors, program) ? 'reactor' : 'request',
    code: hostileModule(statements),
    argsJson: '{"body":{"name":"Ann"}}',
    configuration: async () => '{}',
    host,
    fetch: () => new Promise(() => {}),
    onEnd: (usage) => {
      durationMs = usage.durationMs;
    },
  };
  try {
    await pool.run(task);
    return { program, stoppedBy: 'answered', detail: '', durationMs };
  } catch (error) {
    if (!(error instanceof ServiceError) || !/^(transform|reactor)_failed$/.test(error.code)) throw error;
    const stoppedBy = error.cause instanceof TransformStopped ? error.cause.limit : 'error';
    return { program, stoppedBy, detail: error.detail, durationMs };
  }
}

const goodCode = 'module.exports = async (req) => ({ body: await req.svc.detokenize(req.args.body) })';

/** Runs a good transform again and again until `end`. A run with a wrong answer is lost. */
export async function goodTraffic(pool: TransformPool, end: Promise<unknown>): Promise<GoodTraffic> {
  const durations: number[] = [];
  const losses: string[] = [];
  const version = {};
  let ended = false;
  const settled = end.finally(() => {
    ended = true;
  });
  settled.catch(() => {});
  while (!ended) {
    const argsJson = JSON.stringify({ body: { number: durations.length } });
    const startedAt = performance.now();
    const task = { tenantId: 'good', ownerId: 'good', version, kind: 'request', code: goodCode, argsJson } as const;
    const answer = await pool
      .run({ ...task, configuration: async () => '{}', host: async (_, payloadJson) => payloadJson })
      .then(
        ({ bodyJson }) => bodyJson,
        (error: Error) => error.message,
      );
    if (answer !== `{"number":${durations.length}}`) losses.push(answer ?? 'no body');
    durations.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  await settled;
  durations.sort((a, b) => a - b);
  return {
    invocations: durations.length,
    lost: losses.length,
    losses,
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
  };
}
