import fc from 'fast-check';
import { isRevealedTo, type ModelCaller, maySee, mayUse, type TrueToken } from './rights-model.ts';
import {
  type Ask,
  type Asked,
  type Hidden,
  levelIn,
  shownBlind,
  shownOfEqual,
  sightsOf,
  tokensIn,
} from './sighted-callers.ts';

const places = ['/a/', '/b/', '/c/', '/a/deep/'];
const everything = [...['token:create', 'token:read', 'token:search', 'token:update', 'token:delete', 'token:use']];
const changing = ['token:create', 'token:update', 'token:delete'];

export const anyRule = fc.record({
  priority: fc.integer({ min: 1, max: 3 }),
  container: fc.constantFrom('/', '/a/', '/b/', '/c/', '/a/deep/'),
  transform: fc.constantFrom('redact' as const, 'mask' as const, 'reveal' as const),
  permissions: fc.subarray(everything, { minLength: 1 }),
});

/** Mostly rights to change, without which nothing happens. */
export const anyPermissions: fc.Arbitrary<string[]> = fc.oneof(
  fc.constant(everything),
  fc.constant(changing),
  fc.subarray(everything),
);

/** Shows the secret only once nothing stands behind it. */
const endOfData = '{{ data | stringify | reveal_last: 20 }}';

export const anyHidden = fc.record({
  containers: fc.subarray(places, { minLength: 1, maxLength: 2 }),
  mask: fc.constantFrom('{{ data.hint }}', endOfData, null),
  search_indexes: fc.constantFrom<string[]>([], ['{{ data.secret }}']),
});

const anyPatch = fc.oneof(
  fc.record({ containers: fc.subarray(places, { minLength: 1, maxLength: 2 }) }),
  fc.constantFrom<object>(
    {},
    { mask: '{{ data.secret }}' },
    { mask: null },
    { search_indexes: ['{{ data.secret }}'] },
    { fingerprint_expression: '{{ data.secret | slice: 0, 8 }}' },
    { metadata: { a: 'b' } },
    { data: { other: 'x' } },
    { data: { hint: null } },
    { data: { secret: 'replaced' } },
  ),
);

type What =
  | { kind: 'patch'; patch: object }
  /** Creates, or tokenizes, what the hidden token holds. */
  | { kind: 'equal' | 'tokenize'; containers: string[] }
  /** `again` repeats the last request that had an idempotency key. */
  | { kind: 'again' | 'delete' }
  /** Creates another token under the id of one that was deleted. */
  | { kind: 'recreate' | 'recreatedByOwner'; containers: string[] };

export interface Step {
  who: 'application' | 'session';
  at: number;
  what: What;
}

const anyOne = fc.record({ who: fc.constantFrom('application' as const, 'session' as const), at: fc.nat({ max: 1 }) });
const anyContainers = fc.subarray(places, { minLength: 1, maxLength: 1 });
const anyEqual = fc.record({ kind: fc.constantFrom('equal' as const, 'tokenize' as const), containers: anyContainers });
const anyOther = fc.record({
  kind: fc.constantFrom('recreate' as const, 'recreatedByOwner' as const),
  containers: anyContainers,
});

const anyChange: fc.Arbitrary<What> = fc.oneof(
  fc.constant<What>({ kind: 'delete' }),
  anyPatch.map((patch): What => ({ kind: 'patch', patch })),
);

/** Steps that mean something only one after the other come together. */
const anyTurn: fc.Arbitrary<Step[]> = fc.oneof(
  fc.tuple(anyOne, anyPatch).map(([one, patch]): Step[] => [{ ...one, what: { kind: 'patch', patch } }]),
  fc.tuple(anyOne, anyEqual, anyOne).map(([one, what, { who }]): Step[] => [
    { ...one, what },
    { ...one, who, what: { kind: 'again' } },
  ]),
  fc.tuple(anyOne, anyEqual, anyOne, anyChange).map(([one, what, { who }, change]): Step[] => [
    { ...one, what },
    { ...one, who, what: change },
    { ...one, what: { kind: 'again' } },
  ]),
  fc.tuple(anyOne, anyOther, anyOne).map(([one, what, { who }]): Step[] => [
    { ...one, what: { kind: 'delete' } },
    { ...one, who, what },
  ]),
);
export const anySteps = fc.array(anyTurn, { minLength: 3, maxLength: 7 }).map((turns) => turns.flat());

export interface Cast {
  owner: ModelCaller;
  application: ModelCaller;
  session: ModelCaller;
}

let secrets = 0;
export function nextSecret(): { secret: string; data: object } {
  secrets += 1;
  return { secret: `canary-${secrets}`, data: { secret: `canary-${secrets}`, hint: `hint-${secrets}` } };
}

function requestOf({ what }: Step, { id, secret }: Hidden, last: Asked | undefined): Asked | undefined {
  const path = `/tokens/${id}`;
  const equal = { type: 'token', data: { secret, hint: secret.replace('canary', 'hint') }, deduplicate_token: true };
  const keyed = { method: 'POST', idempotencyKey: `key-${secrets}` };
  switch (what.kind) {
    case 'patch':
      return { method: 'PATCH', path, body: what.patch };
    case 'equal':
      return { ...keyed, path: '/tokens', body: { ...equal, containers: what.containers } };
    case 'tokenize':
      return { ...keyed, path: '/tokenize', body: { equal: { ...equal, containers: what.containers }, other: 'x' } };
    case 'again':
      return last;
    case 'delete':
      return { method: 'DELETE', path };
    case 'recreate':
      return { method: 'POST', path: '/tokens', body: { id, data: { own: 'x' }, containers: what.containers } };
    case 'recreatedByOwner':
      return undefined;
  }
}

/** Fails at the first step that shows a caller more than the model says it may see. */
export async function play(ask: Ask, cast: Cast, hidden: readonly Hidden[], steps: readonly Step[]): Promise<string[]> {
  const done: string[] = [];
  const replies = new Map<string, { body: unknown; state: string }>();
  let last: Asked | undefined;
  for (const step of steps) {
    const token = hidden[step.at] as Hidden;
    if (step.what.kind === 'recreatedByOwner') {
      if (token.token || (await isTaken(ask, cast.owner, token))) continue;
      const { secret, data } = nextSecret();
      const body = { id: token.id, data, mask: '{{ data.hint }}', containers: step.what.containers };
      await ask(cast.owner, { method: 'POST', path: '/tokens', body });
      token.secret = secret;
      await see(ask, cast.owner, token);
      await compare(ask, [cast.application, cast.session], hidden, new Map());
      done.push('recreatedByOwner');
      continue;
    }
    const asked = requestOf(step, token, last);
    if (!asked) continue;
    if (asked.idempotencyKey !== undefined) last = asked;
    const caller = cast[step.who];
    const before = new Map(hidden.map((one) => [one, one.token]));
    const told = await ask(caller, asked);
    const name = `${caller.key} ${JSON.stringify(asked)}`;
    const first = replies.get(name);
    if (told.status < 400) judgeAnswer(caller, asked, told.body, hidden, first !== undefined);
    const state = JSON.stringify(hidden.map((one) => one.token));
    if (first?.state === state) expect(told.body).toEqual(first.body);
    if (!first && told.status < 400 && asked.idempotencyKey !== undefined)
      replies.set(name, { body: told.body, state });
    expect(told.status < 400 ? '' : JSON.stringify(told.body)).not.toMatch(/canary|hint-|label/);
    if (told.status >= 400) continue;
    for (const one of hidden) await see(ask, cast.owner, one);
    judgeChange(caller, hidden, before);
    const judgedBefore = caller.authorizer ? [caller, caller.authorizer] : [caller];
    await compare(ask, [cast.application, cast.session], hidden, new Map(judgedBefore.map((one) => [one, before])));
    done.push(step.what.kind);
  }
  return done;
}

async function isTaken(ask: Ask, owner: ModelCaller, { id }: Hidden): Promise<boolean> {
  return (await ask(owner, { method: 'GET', path: `/tokens/${id}` })).status === 200;
}

/** A token whose secret was replaced, or that another has created under its id, is not the hidden one. */
export async function see(ask: Ask, owner: ModelCaller, hidden: Hidden): Promise<void> {
  const { status, body } = await ask(owner, { method: 'GET', path: `/tokens/${hidden.id}` });
  const isThere = status === 200 && JSON.stringify(body.data).includes(hidden.secret);
  const created = (hidden.token ?? hidden.replaced)?.created_at;
  hidden.token = isThere ? (body as TrueToken) : undefined;
  hidden.replaced = status === 200 && !isThere && body.created_at === created ? (body as TrueToken) : undefined;
}

/**
 * What an answer shows of a hidden token is what its caller might see before; of an equal one, that it is equal. A
 * repeated answer shows what a read would now, and of a token that is gone, or is not read now, only where it was.
 */
function judgeAnswer(
  caller: ModelCaller,
  { method }: Asked,
  body: unknown,
  hidden: readonly Hidden[],
  isRepeated: boolean,
): void {
  const blind = isRepeated ? [...shownBlind, ...shownOfEqual] : method === 'POST' ? shownOfEqual : shownBlind;
  for (const { id, secret, token, replaced } of hidden) {
    if (!token && !isRepeated) continue;
    const now = token ?? replaced;
    const may = now ? Math.min(maySee(caller, now).level, token ? 3 : 2) : 0;
    for (const shown of tokensIn(body, id)) expect(levelIn(shown, secret, blind)).toBeLessThanOrEqual(may);
  }
}

function judgeChange(caller: ModelCaller, hidden: readonly Hidden[], before: Before): void {
  for (const one of hidden) {
    const [was, is] = [before.get(one), one.token];
    if (!was || !is) continue;
    if (!isRevealedTo(caller, was)) expect(showing(is)).toEqual(showing(was));
    for (const judged of caller.authorizer ? [caller, caller.authorizer] : [caller])
      expect(mayUse(judged, is) && !mayUse(judged, was)).toBe(false);
  }
}

const showing = ({ mask, search_indexes, fingerprint_expression }: TrueToken) => ({
  ...{ mask, search_indexes, fingerprint_expression },
});

type Before = ReadonlyMap<Hidden, TrueToken | undefined>;

/** Each caller sees what the model allows it for the token as it is, and as it was before a change of its own. */
export async function compare(
  ask: Ask,
  callers: readonly ModelCaller[],
  hidden: readonly Hidden[],
  judgedBefore: ReadonlyMap<ModelCaller, Before>,
): Promise<void> {
  for (const caller of callers) {
    for (const [one, seen] of await sightsOf(ask, caller, hidden)) {
      if (!one.token) {
        expect(seen.level).toBeLessThan(3);
        expect(seen.isFound).toBe(false);
        continue;
      }
      const was = judgedBefore.get(caller)?.get(one);
      for (const token of [one.token, ...(was ? [was] : [])]) {
        const may = maySee(caller, token);
        expect(seen.level).toBeLessThanOrEqual(may.level);
        if (seen.isFound && may.level < 3) expect(may.isFound).toBe(true);
      }
    }
  }
}
