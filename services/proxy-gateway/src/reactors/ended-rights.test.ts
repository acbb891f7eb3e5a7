import { tagOf } from '@sluice/cache-coherence';
import { eventually, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { reactAt } from '../testing/react-at.ts';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

/** The code waits for its first destination, and meanwhile rights end, confirmed by the gateway. */
const gateway = useStack((stack) => startTestGateway(stack));

interface Ids {
  caller: string;
  session: string;
  reactor: string;
  acting: string;
  token: string;
}

type Happening = (gateway: TestGateway, ids: Ids) => Promise<string[]>;

const deleted =
  (table: 'applications' | 'reactors' | 'sessions' | 'tokens', id: string) =>
  ({ db }: TestGateway) =>
    db.deleteFrom(table).where('id', '=', id).execute();

const happenings: [string, 'caller' | 'session', Happening, number][] = [
  [
    'its Application is deleted',
    'caller',
    async (g, { caller }) => {
      await deleted('applications', caller)(g);
      return [tagOf.application(caller)];
    },
    401,
  ],
  [
    'its Application loses token:use',
    'caller',
    async ({ db }, { caller }) => {
      await db
        .updateTable('applications')
        .set({ permissions: ['token:read'] })
        .where('id', '=', caller)
        .execute();
      return [tagOf.application(caller)];
    },
    403,
  ],
  [
    'its session ends',
    'session',
    async (g, { session }) => {
      await deleted('sessions', session)(g);
      return [tagOf.session(session)];
    },
    401,
  ],
  [
    'the Application that authorized its session is deleted',
    'session',
    async (g, { caller }) => {
      await deleted('applications', caller)(g);
      return [tagOf.application(caller)];
    },
    401,
  ],
  [
    'the Application of the reactor is deleted',
    'caller',
    async (g, { acting }) => {
      await deleted('applications', acting)(g);
      return [tagOf.application(acting)];
    },
    503,
  ],
  [
    'the reactor gets another Application',
    'caller',
    async ({ db }, { reactor, caller }) => {
      await db.updateTable('reactors').set({ application_id: caller }).where('id', '=', reactor).execute();
      return [tagOf.reactor(reactor)];
    },
    503,
  ],
  [
    'the reactor is deleted',
    'caller',
    async (g, { reactor }) => {
      await deleted('reactors', reactor)(g);
      return [tagOf.reactor(reactor)];
    },
    404,
  ],
  [
    'the token is deleted',
    'caller',
    async (g, { token }) => {
      await deleted('tokens', token)(g);
      return [tagOf.token(g.tenant.id, token)];
    },
    400,
  ],
];

/** It calls out twice, uses its client, and returns the value. */
const code = `module.exports = async ({ args, svc }) => {
  const tried = (call) => call.then(() => 'done', (error) => error.message);
  await fetch(args.url + '/first');
  const tries = [await tried(fetch(args.url + '/second')), await tried(svc.detokenize('{{' + args.id + '}}'))];
  console.log(...tries);
  return { raw: { value: args.value, tries } } }`;

async function setUp() {
  const { tenant } = gateway.current;
  const caller = await tenant.application();
  const acting = await tenant.application();
  const reactor = await tenant.reactor({ code, applicationId: acting.id });
  const session = await tenant.session(caller.id, { reactors: [reactor.id] });
  const token = await tenant.token({ data: 'the value' });
  const ids = { caller: caller.id, session: session.id, reactor: reactor.id, acting: acting.id, token };
  return { ids, keys: { caller: caller.key, session: session.key } };
}

async function runWhile(who: 'caller' | 'session', happens: Happening) {
  const { url, tenant, destination, announce } = gateway.current;
  const { ids, keys } = await setUp();
  destination.seen.length = 0;
  const { promise: isHere, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: mayAnswer, resolve: release } = Promise.withResolvers<void>();
  destination.answer = async (request, response) => {
    arrive();
    await mayAnswer;
    defaultAnswer(request, response);
  };
  const args = { url: destination.url, id: ids.token, value: `{{ ${ids.token} }}` };
  const reacted = reactAt(url, { id: ids.reactor, key: keys[who], body: { args } });
  await isHere;
  const tags = await happens(gateway.current, ids);
  if (tags.length > 0) await announce(tenant.id, tags);
  release();
  const { status, body } = await reacted;
  return { status, body, asked: destination.seen.map(({ url: path }) => path) };
}

describe('while it runs', () => {
  test.each(happenings)(
    '%s (%s): it calls out and is told no more, and its answer is refused',
    async (_, who, happens, status) => {
      const answer = await runWhile(who, happens);
      expect([answer.status, answer.asked]).toEqual([status, ['/first']]);
      expect(JSON.stringify(answer.body)).not.toContain('the value');
    },
  );

  test.each(['caller', 'session'] as const)('control: for a %s that is as it was, all of it goes on', async (who) => {
    expect(await runWhile(who, async () => [])).toEqual({
      status: 200,
      body: { raw: { value: 'the value', tries: ['done', 'done'] } },
      asked: ['/first', '/second'],
    });
  });

  test('another code than it began with changes nothing', async () => {
    const { status, asked } = await runWhile('caller', async ({ db }, { reactor }) => {
      await db.updateTable('reactors').set({ code: 'throw 1' }).where('id', '=', reactor).execute();
      return [tagOf.reactor(reactor)];
    });
    expect([status, asked]).toEqual([200, ['/first', '/second']]);
  });
});

describe('before it runs, while its tokens are read', () => {
  async function whileTokensAreRead(happens: Happening) {
    const { db, url, tenant, destination, announce } = gateway.current;
    const { ids, keys } = await setUp();
    destination.seen.length = 0;
    destination.answer = defaultAnswer;
    const args = { url: destination.url, id: ids.token, value: `{{ ${ids.token} }}` };
    const { reacted } = await db.transaction().execute(async (tx) => {
      await sql`lock table tokens in access exclusive mode`.execute(tx);
      const reacted = reactAt(url, { id: ids.reactor, key: keys.caller, body: { args } });
      await untilLockIsAwaited(db);
      const tags = await happens(gateway.current, ids);
      if (tags.length > 0) await announce(tenant.id, tags);
      return { reacted };
    });
    const { status } = await reacted;
    return { status, asked: destination.seen.length };
  }

  test('an ended right keeps the code from running', async () => {
    const ended = happenings.filter(([name, who]) => who === 'caller' && !/^the (token|Application)/.test(name));
    for (const [name, , happens, status] of ended)
      expect({ name, ...(await whileTokensAreRead(happens)) }).toEqual({ name, status, asked: 0 });
  });

  test('so does other code, because that of the run is not there any more', async () => {
    const other: Happening = async ({ db }, { reactor }) => {
      await db.updateTable('reactors').set({ code: 'throw 1' }).where('id', '=', reactor).execute();
      return [tagOf.reactor(reactor)];
    };
    expect(await whileTokensAreRead(other)).toEqual({ status: 503, asked: 0 });
    expect(await whileTokensAreRead(async () => [])).toEqual({ status: 200, asked: 2 }); // Control
  });
});

test('what an ended run was told is in the log all the same', async () => {
  const { db } = gateway.current;
  const [, who, happens] =
    happenings[0] ??
    (() => {
      throw new Error('none');
    })();
  let id = '';
  await runWhile(who, async (g, ids) => {
    id = ids.reactor;
    return happens(g, ids);
  });
  const rows = () => db.selectFrom('audit_log').select('detail').where('entity_id', '=', id).orderBy('at').execute();
  await eventually('both rows', async () => (await rows()).length >= 2);
  expect((await rows()).map(({ detail }) => detail)).toMatchObject([{ token_ids: [expect.any(String)] }, { calls: 1 }]);
});
