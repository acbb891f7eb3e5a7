import type { Level, ModelCaller, Sight, TrueToken } from './rights-model.ts';

export interface Asked {
  method: string;
  path: string;
  body?: unknown;
  idempotencyKey?: string;
}

export interface Told {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape, and the property looks for tokens in them
  body: any;
}

export type Ask = (caller: ModelCaller, asked: Asked) => Promise<Told>;

export interface Hidden {
  id: string;
  /** Marks its plaintext. No other token that ever has this id holds it. */
  secret: string;
  /** Undefined once it was deleted, or its secret replaced. */
  token: TrueToken | undefined;
  replaced?: TrueToken | undefined;
}

/** Members that a caller without `token:read` is shown of a token that it changes, and of one that equals its own. */
export const shownBlind = ['id', 'type', 'tenant_id', 'containers', 'modified_by', 'modified_at'];
export const shownOfEqual = ['id', 'type', 'tenant_id', 'containers', 'fingerprint'];

export function levelIn(shown: object, secret: string, blind: readonly string[]): Level {
  if ('data' in shown) return JSON.stringify(shown.data).includes(secret) ? 3 : 2;
  return Object.keys(shown).every((member) => blind.includes(member)) ? 0 : 1;
}

export function tokensIn(body: unknown, id: string): object[] {
  if (typeof body !== 'object' || body === null) return [];
  const inner = Object.values(body).flatMap((member) => tokensIn(member, id));
  return 'id' in body && body.id === id && 'tenant_id' in body ? [body, ...inner] : inner;
}

const levelOfValue = (value: unknown, secret: string): Level => {
  if (value === null) return 1;
  return JSON.stringify(value).includes(secret) ? 3 : 2;
};

export async function sightsOf(
  ask: Ask,
  caller: ModelCaller,
  hidden: readonly Hidden[],
): Promise<ReadonlyMap<Hidden, Sight>> {
  const ids = hidden.map(({ id }) => `id=${id}`).join('&');
  const named = { query: hidden.map(({ id }) => `id:${id}`).join(' OR ') };
  const guessed = { query: hidden.map(({ id, secret }) => `(id:${id} AND data:"${secret}")`).join(' OR ') };
  const read = (method: string, path: string, body?: unknown) => ask(caller, { method, path, body });
  const [found, shown, one, filled] = await Promise.all([
    read('POST', '/tokens/search', guessed),
    Promise.all([
      read('GET', `/tokens?${ids}`),
      read('GET', `/v2/tokens?${ids}`),
      read('POST', '/tokens/search', named),
      read('POST', '/v2/tokens/search', named),
    ]),
    Promise.all(hidden.map(({ id }) => read('GET', `/tokens/${id}`))),
    Promise.all(hidden.map(({ id }) => read('POST', '/detokenize', [`{{ ${id} }}`]))),
  ]);
  return new Map(
    hidden.map((token, at) => {
      const { id, secret } = token;
      const objects = [found, ...shown, ...one].filter(({ status }) => status < 400).map(({ body }) => body);
      const levels = tokensIn(objects, id).map((object): Level => (levelIn(object, secret, shownBlind) || 1) as Level);
      const value = filled[at];
      if (value && value.status < 400) levels.push(levelOfValue(value.body[0], secret));
      const level = Math.max(0, ...levels) as Level;
      return [token, { level, isFound: found.status < 400 && tokensIn(found.body, id).length > 0 }];
    }),
  );
}
