import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { listen } from './listen.ts';

/** Rejects with the reason why the part cannot be used. */
export type ReadinessCheck = () => Promise<unknown>;

/** How long `/readyz` waits for its checks. Probes must wait longer, because a busy process answers later. */
export const checkTimeoutMs = 2000;

export class Readiness {
  #checks = new Map<string, ReadinessCheck>();
  #state: 'starting' | 'running' | 'stopping' = 'starting';
  #wasReady = false;

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  get wasReady(): boolean {
    return this.#wasReady;
  }

  get state(): 'starting' | 'running' | 'stopping' {
    return this.#state;
  }

  set state(state: 'starting' | 'running' | 'stopping') {
    this.#state = state;
  }

  async missing(): Promise<Record<string, string>> {
    if (this.#state !== 'running') return { service: this.#state };
    const missing: Record<string, string> = {};
    await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const reason = await withTimeout(check).catch((error: unknown) => reasonOf(error));
        if (typeof reason === 'string') missing[name] = reason;
      }),
    );
    this.#wasReady = Object.keys(missing).length === 0;
    return missing;
  }
}

async function withTimeout(check: ReadinessCheck): Promise<undefined> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`no answer within ${checkTimeoutMs} ms`)), checkTimeoutMs);
  try {
    await Promise.race([check(), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'not available';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message || error.name;
}

export interface AdminOptions {
  host: string;
  port: number;
  readiness: Readiness;
  metrics: Registry;
  stack: AsyncDisposableStack;
}

/** `/livez`, `/readyz` and `/metrics`, on another port than traffic. */
export function openAdminServer({ host, port, readiness, metrics, stack }: AdminOptions): Promise<number> {
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?', 1)[0];
    const { status, body, type } = await answer(path, readiness, metrics).catch(unreadable);
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  });
  return listen(server, { host, port, stack });
}

async function answer(path: string | undefined, readiness: Readiness, metrics: Registry) {
  if (path === '/livez') return { status: 200, body: 'ok\n', type: 'text/plain' };
  if (path === '/readyz') {
    const missing = await readiness.missing();
    const ready = Object.keys(missing).length === 0;
    return { status: ready ? 200 : 503, body: `${JSON.stringify({ ready, missing })}\n`, type: 'application/json' };
  }
  if (path === '/metrics') return { status: 200, body: await metrics.metrics(), type: metrics.contentType };
  return { status: 404, body: 'This port answers /livez, /readyz and /metrics\n', type: 'text/plain' };
}

/** An unhandled rejection would end the process. */
function unreadable(error: unknown) {
  return { status: 500, body: `The metrics cannot be read: ${reasonOf(error)}\n`, type: 'text/plain' };
}
