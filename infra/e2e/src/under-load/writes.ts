import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createHttpClient, type HttpAnswer, NoAnswer } from '../cluster/http-client.ts';
import type { Node } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { createRandom } from '../random.ts';
import { type Clients, startClients } from './clients.ts';
import { addTo } from './count.ts';

export interface WritesOptions {
  site: Site;
  management: () => readonly Node[];
  vaults: () => readonly Node[];
  /** Of an Application that may create tokens and read them. */
  tokenKey: string;
  clients: number;
  seed: number;
}

export interface WritesReport {
  /** Tokens and Applications whose creation was acknowledged. */
  acknowledged: number;
  /** Creations that were never acknowledged, however often they were sent. */
  unacknowledged: number;
  /** Acknowledged, and not there with the value that was sent. */
  lost: number;
  /** Sent several times under one idempotency key, and there more than once. */
  duplicates: number;
  /** How often each status came, or why there was none. */
  answers: ReadonlyMap<string, number>;
  /** Statuses that are no answer to a good request, whatever fails. */
  unexpected: string[];
}

export interface Writes extends Clients {
  /** Compares what was acknowledged with what is there; for after the stop. */
  check(): Promise<WritesReport>;
}

/** One creation, which is sent under one idempotency key until it is acknowledged. */
interface Creation {
  kind: 'token' | 'application';
  /** Of the token, or the name of the Application: there must be one at most. */
  name: string;
  value: string;
  isAcknowledged: boolean;
}

const pauseMs = 40;
const pauseAfterFailureMs = 200;
const patienceMs = 13_000;
/** Tokens that one request may name. */
const mostRead = 100;

/** A fault may be answered by these; a request that is right never by another. */
const allowed = new Set(['201', '409', '429', '502', '503', '504']);

/** Clients that create tokens and Applications, each until it is acknowledged. */
export function startWrites(options: WritesOptions, stack: AsyncDisposableStack): Writes {
  const { site, management, vaults, tokenKey, clients, seed } = options;
  const http = stack.adopt(createHttpClient(), (opened) => opened.close());
  const creations: Creation[] = [];
  const answers = new Map<string, number>();
  const managementKey = site.credentials.management_key;

  async function send(creation: Creation, node: Node): Promise<HttpAnswer | string> {
    const isToken = creation.kind === 'token';
    const body = isToken
      ? { id: creation.name, type: 'token', data: creation.value }
      : { name: creation.name, type: 'private', permissions: ['token:use'] };
    const headers = {
      'content-type': 'application/json',
      'svc-api-key': isToken ? tokenKey : managementKey,
      'svc-idempotency-key': creation.name,
    };
    const url = `${node.url}${isToken ? '/tokens' : '/applications'}`;
    try {
      return await http.send({ method: 'POST', url, headers, body: JSON.stringify(body), timeoutMs: patienceMs });
    } catch (error) {
      if (error instanceof NoAnswer) return error.code;
      throw error;
    }
  }

  /** Acknowledged tokens that have another value than the one that was sent. */
  async function findWrong(all: readonly Creation[]): Promise<Set<string>> {
    const tokens = all.filter(({ kind, isAcknowledged }) => kind === 'token' && isAcknowledged);
    const wrong = new Set<string>();
    const headers = { 'content-type': 'application/json', 'svc-api-key': tokenKey };
    const [vault] = vaults();
    for (let from = 0; from < tokens.length; from += mostRead) {
      const some = tokens.slice(from, from + mostRead);
      const body = JSON.stringify(some.map(({ name }) => `{{ ${name} }}`));
      const url = `${vault?.url}/detokenize`;
      const answer = await http.send({ method: 'POST', url, headers, body, timeoutMs: patienceMs });
      const values = answer.status === 200 ? JSON.parse(answer.body) : [];
      some.forEach(({ name, value }, index) => {
        if (values[index] !== value) wrong.add(name);
      });
    }
    return wrong;
  }

  async function write(number: number, signal: AbortSignal): Promise<void> {
    const random = createRandom(seed + 4000 + number);
    while (!signal.aborted) {
      const kind = random.chance(0.7) ? 'token' : 'application';
      const creation: Creation = { kind, name: randomUUID(), value: `value ${randomUUID()}`, isAcknowledged: false };
      creations.push(creation);
      while (!creation.isAcknowledged && !signal.aborted) {
        const answer = await send(creation, random.pick(kind === 'token' ? vaults() : management()));
        const status = typeof answer === 'string' ? answer : String(answer.status);
        addTo(answers, status);
        creation.isAcknowledged = status === '201';
        await wait(creation.isAcknowledged ? random.between(0, 2 * pauseMs) : pauseAfterFailureMs);
      }
    }
  }

  return {
    ...startClients(clients, write),
    async check() {
      const counts = await countStored(site, creations);
      const wrong = await findWrong(creations);
      const acknowledged = creations.filter(({ isAcknowledged }) => isAcknowledged);
      return {
        acknowledged: acknowledged.length,
        unacknowledged: creations.length - acknowledged.length,
        lost: acknowledged.filter(({ name }) => !counts.has(name) || wrong.has(name)).length,
        duplicates: [...counts.values()].filter((count) => count > 1).length,
        answers,
        unexpected: [...answers.keys()].filter((status) => /^\d+$/.test(status) && !allowed.has(status)),
      };
    },
  };
}

/** How often what each creation names is there. */
async function countStored({ stores }: Site, creations: readonly Creation[]): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; count: number }>(
      `select name, count(*)::int as count from (
         select id as name from tokens where id = any($1) union all select name from applications where name = any($1)
       ) stored group by name`,
      [creations.map(({ name }) => name)],
    );
    return new Map(rows.map(({ name, count }) => [name, count]));
  } finally {
    await client.end();
  }
}
