import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpAnswer } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { repeating, startClients } from './clients.ts';
import type { Answered } from './count.ts';
import type { WritesReport } from './judgement.ts';
import type { World } from './world.ts';

/** One creation, which is sent under one idempotency key until it is acknowledged. */
interface Creation {
  kind: 'token' | 'application' | 'batch';
  /** The token's id, or the name of the Application or the batch: there must be one at most. */
  name: string;
  value: string;
  /** Of its answer, once it is acknowledged. */
  ids?: string[];
}

const pauseMs = 40;
const pauseAfterFailureMs = 200;
const patienceMs = 13_000;
const mostReadAtOnce = 100;
/** On a machine that has other things to do. */
const readWithinMs = 120_000;
const batchSize = 20;
const isBatch = ({ kind }: Creation) => kind === 'batch';

/** A fault may be answered by these; a request that is right never by another. */
const allowed = new Set(['409', '429', '502', '503', '504']);

/** Clients that create tokens, batches of them and Applications, each until it is acknowledged. */
export function startWrites(world: World, clients: number) {
  const { http, balancer, tokenKey } = world;
  const creations: Creation[] = [];
  const answers: Answered[] = [];
  const unexpected = new Set<string>();

  function send({ kind, name, value }: Creation, { url }: Node): Promise<HttpAnswer> {
    const key = kind === 'application' ? world.credentials.management_key : tokenKey;
    const headers = { 'svc-idempotency-key': name };
    const { path, body } = {
      token: { path: '/tokens', body: { id: name, type: 'token', data: value } },
      application: { path: '/applications', body: { name, type: 'private', permissions: ['token:use'] } },
      batch: {
        path: '/tokenize',
        body: Array.from({ length: batchSize }, (_, at) => {
          return { type: 'token', data: value + at, metadata: { batch: name } };
        }),
      },
    }[kind];
    return http.send({ method: 'POST', url: url + path, key, headers, body, timeoutMs: patienceMs });
  }

  /** Acknowledged tokens that have another value than the one that was sent. @throws {Error} where no vault can read them. */
  async function findWrong(tokens: readonly Creation[]): Promise<Set<string>> {
    const wrong = new Set<string>();
    for (let from = 0; from < tokens.length; from += mostReadAtOnce) {
      const some = tokens.slice(from, from + mostReadAtOnce);
      const body = some.map(({ name }) => `{{ ${name} }}`);
      let values: unknown[] = [];
      const isRead = await world.until(async () => {
        const [vault] = balancer.targets('token-vault');
        const answer = vault && (await world.invoke(vault, { body, timeoutMs: patienceMs }));
        if (answer?.status === 200) values = JSON.parse(answer.body);
        return answer !== undefined && /^[24]/.test(answer.detail); // 4xx: one of them is not there
      }, readWithinMs);
      if (!isRead) throw new Error('What was acknowledged could not be read: no token vault answers');
      for (const [index, { name, value }] of some.entries()) if (values[index] !== value) wrong.add(name);
    }
    return wrong;
  }

  const write = (number: number) => {
    const random = world.random(4000 + number);
    return repeating(async (_turn, signal) => {
      const kind = random.pick(kinds);
      const creation: Creation = { kind, name: randomUUID(), value: `value ${randomUUID()}` };
      creations.push(creation);
      while (!creation.ids && !signal.aborted) {
        const service = kind === 'application' ? 'management-api' : 'token-vault';
        const { status, detail, body, startedAt, endedAt } = await send(
          creation,
          random.pick(balancer.targets(service)),
        );
        answers.push({ startedAt, endedAt, detail });
        if (status === (kind === 'batch' ? 200 : 201)) {
          creation.ids = [JSON.parse(body)].flat().map(({ id }: { id: string }) => id);
        } else if (status > 0 && !allowed.has(detail)) unexpected.add(detail);
        await wait(creation.ids ? random.between(0, 2 * pauseMs) : pauseAfterFailureMs);
      }
    });
  };

  return {
    ...startClients(Array.from({ length: clients }, (_, number) => write(number))),
    /** Compares what was acknowledged with what is there; for after the stop. */
    async check(): Promise<WritesReport> {
      const stored = await readStored(world, creations);
      const acknowledged = creations.filter(({ ids }) => ids);
      const wrong = await findWrong(acknowledged.filter(({ kind }) => kind === 'token'));
      const idsOf = ({ name }: Creation) => stored.get(name) ?? [];
      const isThere = (one: Creation) =>
        isBatch(one)
          ? one.ids?.length === batchSize && one.ids.toSorted().join() === idsOf(one).toSorted().join()
          : idsOf(one).includes(one.ids?.[0] ?? '') && !wrong.has(one.name);
      return {
        acknowledged: acknowledged.length,
        batches: acknowledged.filter(isBatch).length,
        unacknowledged: creations.length - acknowledged.length,
        lost: acknowledged.filter((one) => !isThere(one)).length,
        duplicates: creations.filter((one) => !isBatch(one) && idsOf(one).length > 1).length,
        partial: creations.filter((one) => isBatch(one) && ![0, batchSize].includes(idsOf(one).length)).length,
        answers,
        unexpected: [...unexpected],
      };
    },
  };
}

const kinds = [...Array(6).fill('token'), ...Array(3).fill('application'), 'batch'] as const;

/** The ids of what each creation has left behind, by its name. */
async function readStored({ query }: World, creations: readonly Creation[]): Promise<Map<string, string[]>> {
  const rows = await query<{ name: string; ids: string[] }>(
    `select name, array_agg(id) as ids from (
       select id as name, id from tokens where id = any($1)
       union all select metadata->>'batch', id from tokens where metadata->>'batch' = any($1)
       union all select name, id::text from applications where name = any($1)
     ) stored group by name`,
    [creations.map(({ name }) => name)],
  );
  return new Map(rows.map(({ name, ids }) => [name, ids]));
}
