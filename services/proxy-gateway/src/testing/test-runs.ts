import { eventually } from '@sluice/testing';
import { sql } from 'kysely';
import type { Reaction } from './react-at.ts';
import type { TestGateway } from './test-gateway.ts';

interface AskOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

/** Asynchronous runs, as their callers see them, and as their rows are. */
export function testRuns({ db, url }: Pick<TestGateway, 'db' | 'url'>, at = url) {
  async function send(
    method: string,
    path: string,
    key: string,
    { body, headers }: AskOptions = {},
  ): Promise<Reaction> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${at}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', 'SVC-API-KEY': key, ...headers },
      ...(text !== undefined && { body: text as string }),
    });
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: answer === '' ? {} : JSON.parse(answer) };
  }

  const ask = (id: string, key: string, options: AskOptions = {}) =>
    send('POST', `/reactors/${id}/react-async`, key, { body: {}, ...options });
  const result = (id: string, runId: string, key: string) => send('GET', `/reactors/${id}/results/${runId}`, key);
  const cancel = (id: string, runId: string, key: string) => send('DELETE', `/reactors/${id}/results/${runId}`, key);

  /** @returns the id of the run. */
  async function begin(id: string, key: string, args: unknown = {}): Promise<string> {
    const { status, body } = await ask(id, key, { body: { args } });
    if (status !== 202) throw new Error(`react-async answered ${status}: ${JSON.stringify(body)}`);
    return String(body.async_reactor_request_id);
  }

  async function end(id: string, runId: string, key: string): Promise<Reaction> {
    let answer = await result(id, runId, key);
    await eventually('the run ends', async () => {
      answer = await result(id, runId, key);
      return answer.status !== 202;
    });
    return answer;
  }

  const row = (runId: string) =>
    db.selectFrom('reactor_runs').selectAll().where('id', '=', runId).executeTakeFirstOrThrow();

  const untilState = (runId: string, state: string) =>
    eventually(`the run is ${state}`, async () => (await row(runId)).state === state);

  /** Until it is released, code that reads a token waits. */
  async function holdTokens(): Promise<() => Promise<void>> {
    const holder = await db.startTransaction().execute();
    await sql`lock table tokens in access exclusive mode`.execute(holder);
    return () => holder.commit().execute();
  }

  return { send, ask, result, cancel, begin, end, row, untilState, holdTokens };
}
