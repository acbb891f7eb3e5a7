// No change widens what its caller sees, over sequences of all operations on tokens, beside a model of the rules.
import { type CallOptions, useStack } from '@sluice/testing';
import fc from 'fast-check';
import {
  anyHidden,
  anyPermissions,
  anyRule,
  anySteps,
  type Cast,
  compare,
  nextSecret,
  play,
  see,
} from './testing/play-changes.ts';
import { type ModelCaller, maySee } from './testing/rights-model.ts';
import { type Ask, type Asked, type Hidden, sightsOf, type Told } from './testing/sighted-callers.ts';
import { reveal, startTestTokenVault } from './testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const numRuns = 120;

const ask: Ask = ({ key }, { method, path, body, idempotencyKey }) => {
  const headers = {
    ...(method === 'PATCH' && { 'Content-Type': 'application/merge-patch+json' }),
    ...(idempotencyKey !== undefined && { 'SVC-IDEMPOTENCY-KEY': idempotencyKey }),
  };
  const options: CallOptions = { key, headers, ...(body !== undefined && { body }) };
  return service.current.send(method, path, options);
};

interface Played {
  caller: ModelCaller;
  asked: Asked;
  told: Told;
  owner: ModelCaller;
}

type Defect = (played: Played) => Told | Promise<Told>;

const asOwner = ({ owner, asked }: Played) => ask(owner, asked);
const isBody = (body: unknown): body is Record<string, unknown> => typeof body === 'object' && body !== null;
const isRefused = ({ told }: Played, member: string) =>
  told.status === 403 && new RegExp(`^${member}[.:]`).test(String(told.body.detail));

/** Does as the owner what was refused for a member, and answers with what the caller reads then. */
const unguarded =
  (member: string): Defect =>
  async (played) => {
    if (played.asked.method !== 'PATCH' || !isRefused(played, member)) return played.told;
    await asOwner(played);
    return { status: 200, body: {} };
  };

const onEqual =
  (path: string, change: (found: Record<string, unknown>, whole: Record<string, unknown>) => object): Defect =>
  async ({ asked, told, owner }) => {
    if (asked.path !== path || told.status !== 200) return told;
    const found = path === '/tokenize' ? told.body.equal : told.body;
    const whole = await ask(owner, { method: 'GET', path: `/tokens/${found.id}` });
    if (whole.status !== 200) return told;
    const shown = change(found, whole.body);
    return { status: 200, body: path === '/tokenize' ? { ...told.body, equal: shown } : shown };
  };

const isReading = ({ method, path }: Asked) => method === 'GET' || /search|detokenize/.test(path);
const withoutData = ({ data: _, ...token }: Record<string, unknown>) => token;

function defects(): Record<string, Defect> {
  const replies = new Map<string, Told>();
  const remembered = new Map<string, Told>();
  const kept = new Map<string, Told>();
  return {
    'an equal token is shown whole': onEqual('/tokens', (_, whole) => whole),
    'an equal token is shown with its metadata': onEqual('/tokens', (found, { metadata }) => ({ ...found, metadata })),
    'an equal token is shown whole by tokenize': onEqual('/tokenize', (_, whole) => whole),
    'a move is not compared with what was seen': unguarded('containers'),
    'anybody changes a mask': unguarded('mask'),
    'anybody merges into data that it does not see': unguarded('data'),
    'anybody changes search indexes': unguarded('search_indexes'),
    'anybody changes the expression of the fingerprint': unguarded('fingerprint_expression'),
    'a patch answers with the fingerprint': async ({ asked, told, owner }) => {
      if (asked.method !== 'PATCH' || told.status !== 200) return told;
      const { body } = await ask(owner, { method: 'GET', path: asked.path });
      return { status: 200, body: { ...told.body, fingerprint: body.fingerprint } };
    },
    'a patch answers with metadata': async ({ asked, told, owner }) => {
      if (asked.method !== 'PATCH' || told.status !== 200) return told;
      const { body } = await ask(owner, { method: 'GET', path: asked.path });
      return { status: 200, body: { ...told.body, metadata: body.metadata } };
    },
    'a read ignores the transform': (played) =>
      played.asked.path.startsWith('/tokens/') && played.asked.method === 'GET' && played.told.status === 200
        ? asOwner(played)
        : played.told,
    'a read by an unknown right shows members': async (played) => {
      if (played.told.status !== 403 || played.asked.method !== 'GET' || !played.asked.path.startsWith('/tokens/')) {
        return played.told;
      }
      const { status, body } = await asOwner(played);
      return { status, body: withoutData(body) };
    },
    'a list is not limited to what may be read': async (played) => {
      if (!/^(\/v2)?\/tokens\?/.test(played.asked.path) || played.told.status !== 200) return played.told;
      const { status, body } = await asOwner(played);
      return { status, body: { ...body, data: body.data.map(withoutData) } };
    },
    'a search is not limited to what may be searched': async (played) => {
      if (!played.asked.path.endsWith('/search') || played.told.status !== 200) return played.told;
      const { status, body } = await asOwner(played);
      return { status, body: { ...body, data: body.data.map(withoutData) } };
    },
    'detokenize ignores the transform': (played) =>
      played.asked.path === '/detokenize' && played.told.status === 200 ? asOwner(played) : played.told,
    'an idempotency key is that of all callers': ({ asked, told }) => {
      if (asked.idempotencyKey === undefined || told.status >= 400) return told;
      const name = JSON.stringify(asked);
      const first = replies.get(name) ?? told;
      replies.set(name, first);
      return first;
    },
    'a kept answer is repeated as it was': ({ caller, asked, told }) => {
      if (asked.idempotencyKey === undefined || told.status >= 400) return told;
      const name = `${caller.key} ${JSON.stringify(asked)}`;
      const first = kept.get(name) ?? told;
      kept.set(name, first);
      return first;
    },
    'a refused creation shows the token of that id': async (played) => {
      if (played.told.status !== 409 || !isBody(played.asked.body) || !('id' in played.asked.body)) return played.told;
      return ask(played.owner, { method: 'GET', path: `/tokens/${played.asked.body.id}` });
    },
    'a deleted token is still read where it was read before': ({ caller, asked, told }) => {
      if (!isReading(asked)) return told;
      const name = `${caller.key} ${JSON.stringify(asked)}`;
      const first = remembered.get(name) ?? told;
      if (told.status === 200) remembered.set(name, first);
      return first;
    },
    'a session is granted what its Application is': (played) =>
      played.caller.authorizer && isReading(played.asked) ? ask(played.caller.authorizer, played.asked) : played.told,
    'a session’s move is compared with its own sight alone': async (played) =>
      played.caller.authorizer ? unguarded('containers')(played) : played.told,
  };
}

const done = new Map<string, number>();

async function createScene(grants: Grants, shapes: readonly object[]): Promise<{ cast: Cast; hidden: Hidden[] }> {
  const { createApplication, createSession } = service.current;
  const whole = await createApplication({ rules: [reveal] });
  const { tenantId } = whole;
  const owner = { key: whole.key, permissions: [], rules: [reveal] };
  const made = await createApplication({ tenantId, permissions: grants.permissions, rules: grants.rules });
  const application = { ...grants, key: made.key };
  const own = { permissions: grants.ownPermissions, rules: grants.ownRules };
  const session = { ...own, key: (await createSession(made, own)).key, authorizer: application };
  const hidden: Hidden[] = [];
  for (const [at, shape] of shapes.entries()) {
    const { secret, data } = nextSecret();
    const token: Hidden = { id: `t${at}-${secret.slice(7)}`, secret, token: undefined };
    const body = { ...shape, id: token.id, data, metadata: { label: `label-${secret}` } };
    expect((await ask(owner, { method: 'POST', path: '/tokens', body })).status).toBe(201);
    await see(ask, owner, token);
    hidden.push(token);
  }
  return { cast: { owner, application, session }, hidden };
}

const anyGrants = fc.record({
  rules: fc.array(anyRule, { maxLength: 4 }),
  permissions: anyPermissions,
  ownRules: fc.array(anyRule, { maxLength: 2 }),
  ownPermissions: anyPermissions,
});
type Grants = typeof anyGrants extends fc.Arbitrary<infer T> ? T : never;

async function failureWith(defect: Defect = ({ told }) => told, seed?: number): Promise<string | undefined> {
  const property = fc.asyncProperty(
    anyGrants,
    fc.tuple(anyHidden, anyHidden),
    anySteps,
    async (grants, shapes, steps) => {
      const { cast, hidden } = await createScene(grants, shapes);
      const faulty: Ask = async (caller, asked) => {
        const told = await ask(caller, asked);
        return caller === cast.owner ? told : defect({ caller, asked, told, owner: cast.owner });
      };
      await compare(faulty, [cast.application, cast.session], hidden, new Map());
      for (const kind of await play(faulty, cast, hidden, steps)) done.set(kind, (done.get(kind) ?? 0) + 1);
    },
  );
  const details = await fc.check(property, {
    numRuns,
    endOnFailure: true,
    includeErrorInReport: true,
    ...(seed !== undefined && { seed }),
  });
  return fc.defaultReportMessage(details);
}

test('the model sees exactly what the service shows before anything has changed', async () => {
  const property = fc.asyncProperty(anyGrants, fc.tuple(anyHidden, anyHidden), async (grants, shapes) => {
    const { cast, hidden } = await createScene(grants, shapes);
    for (const caller of [cast.application, cast.session]) {
      for (const [{ token }, seen] of await sightsOf(ask, caller, hidden)) {
        expect(token && maySee(caller, token)).toEqual(seen);
      }
    }
  });
  await fc.assert(property, { numRuns: 40, endOnFailure: true });
});

test('no sequence of changes shows a caller more of a token than it might see before', async () => {
  expect(await failureWith()).toBeUndefined();
  for (const kind of ['patch', 'equal', 'tokenize', 'again', 'delete', 'recreate', 'recreatedByOwner'])
    expect([kind, (done.get(kind) ?? 0) > 5]).toEqual([kind, true]);
});

describe('the control: each planted defect is found by as many runs', () => {
  test.each(Object.keys(defects()))('%s', async (name) => {
    // The fixed seed keeps it from depending on luck; the property above has another each time
    expect(await failureWith(defects()[name], 1)).toBeDefined();
  });
});
