import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Random, seededRandom } from '@sluice/testing';
import type { Platform } from '../platform.ts';
import { randomDataOf } from '../token-values.ts';
import { type Clients, repeating, startClients } from '../under-load/clients.ts';
import { announce, type Knowledge, type Ledger, learn } from './ledger.ts';

export interface LoadOptions {
  platform: Platform;
  ledger: Ledger;
  seed: number;
  clients: number;
  key: string;
  /** Holds `token:update` alone: it sees no data, so that what it changes is not used by that. */
  updaterKey: string;
  proxyKey: string;
  /** Ids that may be used; those of new tokens are added. */
  usable: string[];
}

interface Client extends LoadOptions {
  random: Random;
}

/** Clients that create, use, change and delete tokens in turns, and note what they were told. */
export function startLoad(options: LoadOptions): Clients {
  const run = (number: number) => {
    const client: Client = { ...options, random: seededRandom(options.seed * 1000 + number) };
    return repeating(async () => {
      await client.random.pick(actions)(client);
      await wait(10); // without it most requests would go to a process that is away
    });
  };
  return startClients(Array.from({ length: options.clients }, (_, number) => run(number)));
}

type Action = (client: Client) => Promise<void>;

const create: Action = async (client) => {
  const { random, ledger, usable } = client;
  const id = randomUUID();
  const type = random.pick(Object.keys(randomDataOf));
  const expires = random.chance(0.2);
  const expiry = expires && { expires_at: new Date(Date.now() + random.between(500, 2500)).toISOString() };
  announce(ledger, [id], expires);
  const told = await send(client, 'create', [
    'POST',
    '/tokens',
    { id, type, data: randomDataOf[type]?.(random), ...expiry },
  ]);
  learnCreation(client, [id], told);
  if (told === 'yes' && !expires) usable.push(id);
};

/** One of ten values: mostly there is an equal token. */
const createDeduplicated: Action = async (client) => {
  const id = randomUUID();
  const data = `equal ${Math.floor(client.random.between(0, 10))}`;
  announce(client.ledger, [id]);
  const told = await send(client, 'create, deduplicated', ['POST', '/tokens', { id, data, deduplicate_token: true }]);
  learnCreation(client, [id], told);
};

/** Five tokens; in some of the batches one is not valid, or has the id of a token that there is. */
const tokenizeBatch: Action = async (client) => {
  const { random, ledger, usable } = client;
  const ids = Array.from({ length: 5 }, () => randomUUID());
  const fault = random.pick(['none', 'none', 'invalid', 'taken']);
  announce(ledger, ids);
  const inputs: unknown[] = ids.map((id, i) => {
    const type = Object.keys(randomDataOf)[i] ?? 'token';
    return { id, type, data: randomDataOf[type]?.(random) };
  });
  if (fault === 'invalid') inputs.push({ type: 'card_number', data: '4242424242424241' });
  if (fault === 'taken') inputs.push({ id: usable[0], type: 'token', data: 'text' });
  const told = await send(client, `tokenize, fault: ${fault}`, ['POST', '/tokenize', { inputs }]);
  learnCreation(client, ids, told);
  ledger.batches.push({ ids, created: told });
  if (told === 'yes') usable.push(...ids);
};

const remove: Action = async (client) => {
  const { random, ledger, usable } = client;
  // The first stays: batches clash with it.
  const [id] = usable.splice(1 + Math.floor(random.between(0, usable.length - 1)), 1);
  if (id === undefined) return;
  learn(ledger, [id], 'deleted', 'maybe');
  const told = await send(client, 'delete', ['DELETE', `/tokens/${id}`]);
  if (told === 'yes') learn(ledger, [id], 'deleted', 'yes');
};

const read = using('read', ([id]) => ['GET', `/tokens/${id}`]);
const list = using('list', (ids) => ['GET', `/tokens?id=${ids.join(',')}`]);
const detokenize = using('detokenize', (ids) => ['POST', '/detokenize', ids.map((id) => `{{ ${id} }}`)]);
const invoke = using('invoke', (ids) => ['POST', '/proxy', ids.map((id) => `{{ ${id} }}`)]);
const update = using('update', ([id]) => ['PATCH', `/tokens/${id}`, { metadata: { at: `${Date.now()}` } }]);

const updateUnseen: Action = async (client) => {
  const id = client.random.pick(client.usable);
  const patch = { metadata: { by: randomUUID() } };
  await send(client, 'update, unseen', ['PATCH', `/tokens/${id}`, patch], client.updaterKey);
};

const actions: readonly Action[] = [
  create,
  create,
  createDeduplicated,
  tokenizeBatch,
  remove,
  read,
  list,
  detokenize,
  invoke,
  invoke,
  update,
  updateUnseen,
];

type Request = [method: string, path: string, body?: unknown];

/** An action that uses one to three tokens: they are active once it succeeds. A list tells of those that it names. */
function using(name: string, requestFor: (ids: string[]) => Request): Action {
  return async (client) => {
    const { random, ledger, usable } = client;
    const ids = [
      ...new Set(Array.from({ length: name === 'read' || name === 'update' ? 1 : 3 }, () => random.pick(usable))),
    ];
    learn(ledger, ids, 'active', 'maybe');
    const told = await send(client, name, requestFor(ids));
    // Another client may have deleted one of a list, which then is not in it; and what is used while it is deleted has
    // no row any more in which its use could be noted.
    const kept = ids.filter((id) => ledger.tokens.get(id)?.deleted === 'no');
    if (told === 'yes' && name !== 'list') learn(ledger, kept, 'active', 'yes');
  };
}

function learnCreation({ ledger }: Client, ids: readonly string[], told: Knowledge): void {
  if (told === 'no') for (const id of ids) Object.assign(ledger.tokens.get(id) ?? {}, { created: 'no', active: 'no' });
  if (told === 'yes') for (const fact of ['created', 'active'] as const) learn(ledger, ids, fact, 'yes');
}

/** Whether the request was granted; `maybe` where the answer does not say, or none came. */
async function send(client: Client, name: string, request: Request, key = client.key): Promise<Knowledge> {
  const [method, path, body] = request;
  const { platform, proxyKey, ledger } = client;
  const headers: Record<string, string> = {
    ...(path === '/proxy' && { 'SVC-PROXY-KEY': proxyKey }),
    ...(method === 'PATCH' && { 'Content-Type': 'application/merge-patch+json' }),
  };
  const status = await platform.call(method, path, { key, headers, ...(body !== undefined && { body }) }).then(
    (answer) => answer.status,
    () => 0, // the process that answered was killed
  );
  ledger.answers.set(name, [...(ledger.answers.get(name) ?? []), status]);
  // 200 to a creation answers another token that is equal: this one is not stored.
  if (status === 201 || status === 204 || (status === 200 && name !== 'create, deduplicated')) return 'yes';
  return status === 200 || (status >= 400 && status < 500) ? 'no' : 'maybe';
}
