import { isDeepStrictEqual } from 'node:util';
import type { Echo } from '../destination/echo.ts';
import type { LoadFigures, LoadGenerator, LoadRequest } from '../load/load-generator.ts';
import type { Turn } from '../rounds.ts';

/** A way to the destination, and a turn of it under load. */
export interface Path extends Turn<LoadFigures> {
  /** The process on it; 0 where there is none. */
  pid: number;
  request: LoadRequest;
}

/** What is checked of it. */
type Checked = Pick<Path, 'name' | 'request'>;

/**
 * Sends the request once to a destination that answers with what it received.
 * @throws if that is not what the destination should receive.
 */
export async function checkReceived(path: Checked, expected: unknown, signal: AbortSignal): Promise<void> {
  const received: unknown = JSON.parse(await send(path, signal));
  if (!isDeepStrictEqual(received, expected)) {
    throw new Error(`${path.name}: the destination received ${JSON.stringify(received)}`);
  }
}

/** @throws if the last request at the destination had another head. */
export function checkHead(echo: Echo, expected: { url?: string; authorization?: string }): void {
  const { url, headers: { authorization } = {} } = echo.last() ?? {};
  const received = { url, authorization };
  if (!isDeepStrictEqual({ ...received, ...expected }, received)) {
    throw new Error(`the destination received ${JSON.stringify(received)}`);
  }
}

/** @throws if the answer is not exactly this. */
export async function checkAnswer(path: Checked, expected: string, signal: AbortSignal): Promise<void> {
  const answer = await send(path, signal);
  if (answer !== expected) throw new Error(`${path.name}: the answer was ${answer}`);
}

/** Runs the load generator against the echo for a second. @throws if it does not send the request. */
export async function checkLoad(
  load: LoadGenerator,
  { request }: Checked,
  echo: Echo,
  signal: AbortSignal,
): Promise<void> {
  const { errors } = await load.run(request, 1, signal);
  const { method, headers = {}, body } = echo.last() ?? {};
  const hasHeaders = Object.entries(request.headers).every(([name, value]) => headers[name.toLowerCase()] === value);
  if (errors > 0 || method !== 'POST' || body !== request.body || !hasHeaders) {
    throw new Error(`${load.name} does not send what it should: ${method} ${body}, ${errors} errors`);
  }
}

async function send({ name, request }: Checked, signal: AbortSignal): Promise<string> {
  const { url, headers, body } = request;
  const answer = await fetch(url, { method: 'POST', headers, body: body ?? null, signal });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${name} answered with ${answer.status}: ${text}`);
  return text;
}
