import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type Dispatcher, Pool } from 'undici';
import { percentile } from '../report/statistics.ts';
import type { FixedRateTask } from './fixed-rate.ts';
import type { LoadFigures } from './load-generator.ts';
import type { Schedule } from './schedule.worker.ts';

const [taskFile = ''] = process.argv.slice(2);
const task = JSON.parse(readFileSync(taskFile, 'utf8')) as FixedRateTask;
const { origin, pathname: path } = new URL(task.request.url);
const { headers, body } = task.request;
const options = { origin, path, method: body === undefined ? 'GET' : 'POST', headers, body: body ?? null };

const intervalMs = 1000 / task.requestsPerSecond;
const uncounted = Math.round(task.warmUpSeconds * task.requestsPerSecond);
const total = uncounted + Math.round(task.seconds * task.requestsPerSecond);

/** A clock that threads share. */
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const startMs = nowMs() + 200; // the thread has started by then
const dueMs = (n: number) => startMs + n * intervalMs;

const pool = new Pool(origin, { connections: task.connections, pipelining: 1, headersTimeout: 10_000 });
const latenciesMs: number[] = [];
let errors = 0;
let open = total;

/** Measures a request from the moment it is due to the end of the answer. */
class Timed implements Dispatcher.DispatchHandler {
  readonly #n: number;
  #isSuccess = false;

  constructor(n: number) {
    this.#n = n;
  }

  onRequestStart(): void {}

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#isSuccess = status >= 200 && status <= 299;
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    if (!this.#isSuccess) errors += 1;
    else if (this.#n >= uncounted) latenciesMs.push(nowMs() - dueMs(this.#n));
    close();
  }

  onResponseError(): void {
    errors += 1;
    close();
  }
}

function close(): void {
  open -= 1;
  if (open > 0) return;
  const tookSeconds = (nowMs() - dueMs(uncounted)) / 1000;
  const [p50Ms, p99Ms] = [50, 99].map((percent) => percentile(latenciesMs, percent)) as [number, number];
  const figures: LoadFigures = { requestsPerSecond: latenciesMs.length / tookSeconds, p50Ms, p99Ms, errors };
  console.log(JSON.stringify(figures));
  void pool.destroy();
}

const schedule: Schedule = { startMs, intervalMs, total };
new Worker(new URL('./schedule.worker.ts', import.meta.url), { workerData: schedule }).on('message', (n: number) => {
  pool.dispatch(options, new Timed(n));
});
