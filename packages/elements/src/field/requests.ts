import type { Problem } from '../types.ts';
import { application } from './siblings.ts';

interface Request {
  key: string;
  body?: object;
  /** Makes it safe to send a creation again when its answer was lost. */
  idempotencyKey?: string;
}

export type Answer = Record<string, unknown>;

const pausesMs = [500, 2000];

/** Every failure of a request. Neither it nor an error response of the vault contains a field's value. */
export class RequestError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.title);
    this.problem = problem;
  }
}

/** The error as the page sees it. An unexpected error is reported without its message, which might contain a value. */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) return error.problem;
  reportError(error);
  return { title: 'The field has an internal error' };
}

/** @throws {RequestError} */
export async function request(method: 'GET' | 'POST' | 'PATCH', path: string, options: Request): Promise<Answer> {
  const response = await send(path, toInit(method, options), options.idempotencyKey ? pausesMs : []);
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (response.ok) return answer;
  const { title = 'The vault refused the request', detail, errors } = answer as unknown as Problem;
  const retryAfter = response.headers.get('Retry-After')?.trim() ?? '';
  const told = { status: response.status, title, ...(detail && { detail }), ...(errors && { errors }) };
  // A balancer may send a date, or what is neither, and these count as absent.
  throw new RequestError(/^\d+$/.test(retryAfter) ? { ...told, retryAfterSeconds: Number(retryAfter) } : told);
}

function toInit(method: string, { key, body, idempotencyKey }: Request): RequestInit {
  const prefix = document.documentElement.dataset.headerPrefix ?? '';
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = {
    [`${prefix}-API-KEY`]: key,
    [`${prefix}-FIELDS-APPLICATION`]: application,
    ...(idempotencyKey && { [`${prefix}-IDEMPOTENCY-KEY`]: idempotencyKey }),
    ...(body && { 'Content-Type': type }),
  };
  return {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  };
}

/** Tries again after each pause until there is a response. */
async function send(path: string, init: RequestInit, [pauseMs, ...rest]: number[]): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch {
    if (pauseMs === undefined) throw new RequestError({ title: 'The vault did not respond' });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return send(path, init, rest);
  }
}
