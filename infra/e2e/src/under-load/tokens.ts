import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '@sluice/testing';
import { randomDataOf } from '../token-values.ts';
import { repeating, startClients } from './clients.ts';
import { type Known, knownToken } from './known-tokens.ts';
import type { World } from './world.ts';

const clients = 6;
const batchSize = 5;
const types = Object.keys(randomDataOf);

type Method = 'POST' | 'GET' | 'PATCH' | 'DELETE';
type Told = 'yes' | 'no' | 'maybe';

/** Clients that create, use, change and delete tokens, and note what they were told. Nobody deletes those that are used seldom. */
export async function startTokens(world: World, seldomUsed: readonly string[]) {
  const { http, balancer, tokenKey, client } = world;
  const known = new Map<string, Known>(seldomUsed.map((id) => [id, knownToken({ created: 'yes', used: 'no' })]));
  const usable = seldomUsed.slice(Math.floor(seldomUsed.length / 10)); // the rest must not be counted
  const answers = new Map<string, string[]>();
  // It sees no data, so its changes do not count as uses.
  const { key: updaterKey } = await world.createApplication('Updater', { permissions: ['token:update'] });

  async function send(
    random: Random,
    name: string,
    [method, path, body]: [Method, string, unknown?],
    key = tokenKey,
  ): Promise<Told> {
    const ask = () => {
      if (path === '/proxy') {
        const gateway = random.pick(balancer.targets('proxy-gateway'));
        return world.invoke(gateway, { key, proxyKey: client.proxyKey, body: body as string[] });
      }
      const url = random.pick(balancer.targets('token-vault')).url + path;
      const headers = { ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }) };
      return http.send({ method, url, key, headers, body: body as object });
    };
    const { status, detail } = await ask();
    answers.set(name, [...(answers.get(name) ?? []), detail]);
    // 200 means that an equal token existed, so this one was not stored.
    if (status === 201 || status === 204 || (status === 200 && name !== 'create, deduplicated')) return 'yes';
    return status === 200 || (status >= 400 && status < 500) ? 'no' : 'maybe';
  }

  async function create(
    random: Random,
    ids: readonly string[],
    name: string,
    request: [Method, string, unknown],
    expires = false,
  ) {
    for (const id of ids) known.set(id, knownToken({ expires }));
    const told = await send(random, name, request);
    for (const id of ids) Object.assign(known.get(id) ?? {}, { created: told, used: told });
    if (told === 'yes' && !expires) usable.push(...ids);
  }

  const randomToken = (random: Random, id: string, type = random.pick(types)) => ({
    id,
    type,
    data: randomDataOf[type]?.(random),
  });

  /** Uses some tokens, which are active once that succeeds. A list shows those that it names, if they are still there. */
  const using =
    (name: string, most: number, requestFor: (ids: string[]) => [Method, string, unknown?]) =>
    async (random: Random) => {
      const ids = [...new Set(Array.from({ length: most }, () => random.pick(usable)))];
      const seen = ids.flatMap((id) => known.get(id) ?? []);
      for (const one of seen) if (one.used === 'no') one.used = 'maybe';
      const told = await send(random, name, requestFor(ids));
      // A token that is deleted during its use has no row to record the use in.
      if (told === 'yes' && name !== 'list') for (const one of seen) if (one.deleted === 'no') one.used = 'yes';
    };
  const expressions = (ids: readonly string[]) => ids.map((id) => `{{ ${id} }}`);

  const actions: readonly ((random: Random) => Promise<void>)[] = [
    ...Array<(random: Random) => Promise<void>>(2).fill(async (random) => {
      const [id, expires] = [randomUUID(), random.chance(0.2)];
      const expires_at = new Date(Date.now() + random.between(500, 2500)).toISOString();
      const body = { ...randomToken(random, id), ...(expires && { expires_at }) };
      await create(random, [id], 'create', ['POST', '/tokens', body], expires);
    }),
    async (random) => {
      const [id, data] = [randomUUID(), `equal ${Math.floor(random.between(0, 10))}`];
      await create(random, [id], 'create, deduplicated', ['POST', '/tokens', { id, data, deduplicate_token: true }]);
    },
    async (random) => {
      const ids = Array.from({ length: batchSize }, () => randomUUID());
      const isTaken = random.chance(0.3);
      const inputs: object[] = ids.map((id) => randomToken(random, id));
      if (isTaken) inputs.push({ id: seldomUsed[0], type: 'token', data: 'text' });
      await create(random, ids, isTaken ? 'tokenize, an id taken' : 'tokenize', ['POST', '/tokenize', { inputs }]);
    },
    async (random) => {
      const [id = ''] = usable.splice(Math.floor(random.between(0, usable.length)), 1);
      const one = known.get(id);
      if (!one) return;
      one.deleted = 'maybe';
      if ((await send(random, 'delete', ['DELETE', `/tokens/${id}`])) === 'yes') one.deleted = 'yes';
    },
    using('read', 1, ([id]) => ['GET', `/tokens/${id}`]),
    using('list', 3, (ids) => ['GET', `/tokens?id=${ids.join(',')}`]),
    using('detokenize', 3, (ids) => ['POST', '/detokenize', expressions(ids)]),
    using('invoke', 3, (ids) => ['POST', '/proxy', expressions(ids)]),
    using('invoke', 3, (ids) => ['POST', '/proxy', expressions(ids)]),
    using('update', 1, ([id]) => ['PATCH', `/tokens/${id}`, { metadata: { at: `${Date.now()}` } }]),
    async (random) => {
      const patch = { metadata: { by: randomUUID() } };
      await send(random, 'update, unseen', ['PATCH', `/tokens/${random.pick(usable)}`, patch], updaterKey);
    },
  ];

  const run = (number: number) => {
    const random = world.random(9000 + number);
    return repeating(async () => {
      await random.pick(actions)(random);
      await wait(10); // without it most requests would go to a process that is away
    });
  };
  return { known, answers, ...startClients(Array.from({ length: clients }, (_, number) => run(number))) };
}
