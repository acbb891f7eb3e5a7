import { defaultTransformLimits, openTransformPool, type TransformPool } from '@sluice/sandbox';
import type { BenchmarkContext } from '../benchmark.ts';
import { median } from '../report/statistics.ts';

const code = 'module.exports = async ({ args }) => ({ body: { ...args.body, added: 1 } })';
const sizes: readonly [name: string, bytes: number, calls: number][] = [
  ['1 KiB', 2 ** 10, 2_000],
  ['64 KiB', 2 ** 16, 300],
  ['1 MiB', 2 ** 20, 40],
];
const manyTransforms = 1_000;
/** On a slow machine a report covers fewer calls. */
const longestReportMs = 8_000;

/** Measures calls of the engine alone, in this process, one after the other. @returns lines for the report. */
export async function measureCalls({ signal, log }: BenchmarkContext): Promise<string[]> {
  log('  transforms alone');
  const lines = [await describeColdStart()];
  const pool = openPool(1);
  try {
    await pool.ready();
    for (const [name, bytes, calls] of sizes) {
      signal.throwIfAborted();
      lines.push(await describeCalls(pool, name, { bytes, calls }));
    }
    lines.push(await describeMany(pool, signal));
  } finally {
    await pool.close();
  }
  return lines;
}

function openPool(threads: number): TransformPool {
  return openTransformPool({ limits: defaultTransformLimits, threads, queueLimit: 10, headerPrefix: 'SVC' });
}

/** Microseconds from the call to its answer. */
async function callMicroseconds(pool: TransformPool, proxyId: string, argsJson: string): Promise<number> {
  const startedAt = performance.now();
  // Each call has its own Tenant, because a slow call would move all transforms of its Tenant to other threads.
  await pool.run({
    tenantId: proxyId,
    ownerId: proxyId,
    kind: 'request',
    code,
    argsJson,
    configuration: async () => '{}',
  });
  return (performance.now() - startedAt) * 1000;
}

async function describeCalls(
  pool: TransformPool,
  name: string,
  { bytes, calls }: { bytes: number; calls: number },
): Promise<string> {
  const argsJson = JSON.stringify({ body: { items: items(bytes) }, headers: {} });
  const durations: number[] = [];
  const startedAt = performance.now();
  const hasTime = (part: number) => performance.now() - startedAt < longestReportMs * part;
  for (let i = 0; i < calls / 5 && hasTime(0.2); i += 1) await callMicroseconds(pool, name, argsJson);
  while (durations.length < calls && hasTime(1)) durations.push(await callMicroseconds(pool, name, argsJson));
  durations.sort((a, b) => a - b);
  return `a call with ${name}: ${micro(median(durations))}, p99 ${micro(durations[Math.floor(durations.length * 0.99)] ?? 0)} (${durations.length} calls, warm)`;
}

/** Records of some 100 bytes, in total about this many bytes. */
function items(bytes: number): object[] {
  const item = { id: 1250, name: 'An order of something', note: 'x'.repeat(40), tags: ['a', 'b'] };
  return Array.from({ length: Math.max(1, Math.round(bytes / JSON.stringify(item).length)) }, () => item);
}

/** Measures opening a pool, then the first and the second call of a transform in a running thread. */
async function describeColdStart(): Promise<string> {
  const argsJson = JSON.stringify({ body: { items: items(1024) }, headers: {} });
  const startedAt = performance.now();
  const pool = openPool(1);
  try {
    await pool.ready();
    const readyMs = performance.now() - startedAt;
    await callMicroseconds(pool, 'first', argsJson);
    const cold: number[] = [];
    const warm: number[] = [];
    for (let i = 0; i < 20; i += 1) {
      cold.push(await callMicroseconds(pool, `cold ${i}`, argsJson));
      warm.push(await callMicroseconds(pool, `cold ${i}`, argsJson));
    }
    return `cold start: a thread ${readyMs.toFixed(0)} ms; the first call of a transform ${micro(median(cold))}, its second ${micro(median(warm))}`;
  } finally {
    await pool.close();
  }
}

/** Calls each transform once; there are far more than are kept warm, so every call needs a new instance. */
async function describeMany(pool: TransformPool, signal: AbortSignal): Promise<string> {
  const argsJson = JSON.stringify({ body: { items: items(1024) }, headers: {} });
  const before = process.memoryUsage().rss;
  const durations: number[] = [];
  for (let i = 0; i < manyTransforms; i += 1) {
    signal.throwIfAborted();
    durations.push(await callMicroseconds(pool, `many ${i}`, argsJson));
  }
  durations.sort((a, b) => a - b);
  const grownMiB = (process.memoryUsage().rss - before) / 2 ** 20;
  return `${manyTransforms} different transforms, one after the other in one thread: a call ${micro(median(durations))}, p99 ${micro(durations[Math.floor(durations.length * 0.99)] ?? 0)}; memory grew by ${grownMiB.toFixed(0)} MiB`;
}

const micro = (value: number) => `${value.toFixed(0)} µs`;
