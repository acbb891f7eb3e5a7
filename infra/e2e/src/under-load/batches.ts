import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createHttpClient, type HttpAnswer, NoAnswer } from '../cluster/http-client.ts';
import type { Site } from '../cluster/site.ts';
import { createRandom } from '../random.ts';
import { type Clients, startClients } from './clients.ts';
import { addTo, describeCounts } from './count.ts';
import type { World } from './world.ts';

interface BatchesReport {
  acknowledged: number;
  /** Never acknowledged, however often they were sent. */
  unacknowledged: number;
  /** Of which some tokens are there and some are not, or more than were sent. */
  partial: number;
  /** Acknowledged, and the tokens that are there are not those of the answer. */
  wrong: number;
  /** How often each status came, or why there was none. */
  answers: string;
}

export interface Batches extends Clients {
  /** Compares what was answered with what is there; for after the stop. */
  check(): Promise<BatchesReport>;
}

const batchSize = 20;
const patienceMs = 13_000;

/** Clients that tokenize many values with one request, each sent under one idempotency key until it is acknowledged. */
export function startBatches(
  { site, balancer, tokenKey }: World,
  { clients, seed }: { clients: number; seed: number },
  stack: AsyncDisposableStack,
): Batches {
  const http = stack.adopt(createHttpClient(), (opened) => opened.close());
  /** By its name, the ids of the tokens that were answered; undefined for one without a success. */
  const batches = new Map<string, string[] | undefined>();
  const answers = new Map<string, number>();

  async function send(name: string, url: string): Promise<HttpAnswer | string> {
    const values = Array.from({ length: batchSize }, (_, place) => ({
      type: 'token',
      data: `value ${place} of ${name}`,
      metadata: { batch: name },
    }));
    const headers = { 'content-type': 'application/json', 'svc-api-key': tokenKey, 'svc-idempotency-key': name };
    const body = JSON.stringify(values);
    try {
      return await http.send({ method: 'POST', url: `${url}/tokenize`, headers, body, timeoutMs: patienceMs });
    } catch (error) {
      if (error instanceof NoAnswer) return error.code;
      throw error;
    }
  }

  async function write(number: number, signal: AbortSignal): Promise<void> {
    const random = createRandom(seed + 5000 + number);
    while (!signal.aborted) {
      const name = randomUUID();
      batches.set(name, undefined);
      while (!batches.get(name) && !signal.aborted) {
        const answer = await send(name, random.pick(balancer.targets('token-vault')).url);
        const status = typeof answer === 'string' ? answer : String(answer.status);
        addTo(answers, status);
        if (typeof answer !== 'string' && answer.status === 200) {
          const tokens: { id: string }[] = JSON.parse(answer.body);
          batches.set(
            name,
            tokens.map(({ id }) => id),
          );
        }
        await wait(random.between(20, 100));
      }
    }
  }

  const running = startClients(clients, write);
  stack.defer(() => running.stop().catch(() => undefined)); // who broke has been told of in `broken`
  return {
    ...running,
    async check() {
      const stored = await readStored(site, [...batches.keys()]);
      const acknowledged = [...batches].filter(([, ids]) => ids);
      const isSame = (ids: readonly string[] = [], found: readonly string[] = []) =>
        ids.length === batchSize && ids.toSorted().join() === found.toSorted().join();
      return {
        acknowledged: acknowledged.length,
        unacknowledged: batches.size - acknowledged.length,
        partial: [...stored.values()].filter(({ length }) => length !== batchSize).length,
        wrong: acknowledged.filter(([name, ids]) => !isSame(ids, stored.get(name))).length,
        answers: describeCounts(answers),
      };
    },
  };
}

/** The ids of the tokens of each batch that are there. */
async function readStored({ stores }: Site, names: readonly string[]): Promise<Map<string, string[]>> {
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; ids: string[] }>(
      `select metadata->>'batch' as name, array_agg(id) as ids from tokens
       where metadata->>'batch' = any($1) group by 1`,
      [names],
    );
    return new Map(rows.map(({ name, ids }) => [name, ids]));
  } finally {
    await client.end();
  }
}
