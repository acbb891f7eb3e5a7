import type { AccessRule } from '@sluice/access';
import { tagOf } from '@sluice/cache-coherence';
import { eventually, serveHttp, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { invokeAt, type Refused } from '../../testing/invoke-at.ts';
import { startTestGateway } from '../../testing/test-gateway.ts';
import type { ProxyParts } from '../../testing/test-tenant.ts';

/** The rights as which a Proxy reveals its own headers end while a call waits: nothing is sent, whoever calls. */
const gateway = useStack(async (stack) => {
  const started = await startTestGateway(stack, { DESTINATION_MAX_CONNECTIONS: '1' });
  const asked: { authorization: string | undefined; answer: () => void }[] = [];
  const destination = await serveHttp(stack, async (request, response) => {
    for await (const _ of request);
    asked.push({ authorization: request.headers.authorization, answer: () => response.end('{}') });
  });
  return { ...started, holding: destination, asked };
});

type Ending = (ids: { application: string; proxy: string }) => Promise<string[]>;

const rule: AccessRule = {
  description: 'R',
  priority: 1,
  container: '/credentials/',
  transform: 'reveal',
  permissions: ['token:use'],
};

const deleted: Ending = async ({ application, proxy }) => {
  await gateway.current.db.deleteFrom('applications').where('id', '=', application).execute();
  return [tagOf.application(application), tagOf.proxy(proxy)];
};
/** Expiries are not announced. */
const expired: Ending = async ({ application }) => {
  const { db } = gateway.current;
  const isPast = sql<boolean>`expires_at <= clock_timestamp()`;
  await eventually('its end', async () => {
    const ended = db.selectFrom('applications').select('id').where('id', '=', application).where(isPast);
    return (await ended.execute()).length === 1;
  });
  return [];
};
const swept: Ending = async (ids) => {
  await expired(ids);
  return deleted(ids);
};
const withoutRule: Ending = async ({ application }) => {
  const changed = { rules: JSON.stringify([]) };
  await gateway.current.db.updateTable('applications').set(changed).where('id', '=', application).execute();
  return [tagOf.application(application)];
};
const otherRule: Ending = async ({ application }) => {
  const changed = { rules: JSON.stringify([{ ...rule, priority: 2 }]) };
  await gateway.current.db.updateTable('applications').set(changed).where('id', '=', application).execute();
  return [tagOf.application(application)];
};
const soon = () => new Date(Date.now() + 3_000);

interface EndCase {
  what: string;
  end: Ending;
  expiresAt?: () => Date;
  detail: string;
}

const ends: EndCase[] = [
  { what: 'is deleted', end: deleted, detail: 'was deleted or has expired' },
  { what: 'expires', end: expired, expiresAt: soon, detail: 'was deleted or has expired' },
  { what: 'expires and is swept', end: swept, expiresAt: soon, detail: 'was deleted or has expired' },
  { what: 'loses its rule', end: withoutRule, detail: 'lacks token:use' },
];

async function rowsWith(parts: Partial<ProxyParts> & { expiresAt?: Date | undefined } = {}) {
  const { tenant, destination } = gateway.current;
  const { expiresAt, ...proxyParts } = parts;
  const caller = await tenant.application({ permissions: [], rules: [rule] });
  const permissions = ['token:create'];
  const owner = await tenant.application({ permissions, rules: [rule], ...(expiresAt && { expiresAt }) });
  const token = await tenant.token({ data: 'sk-secret', containers: ['/credentials/'] });
  const proxy = await tenant.proxy({
    destination: destination.url,
    applicationId: owner.id,
    requestHeaders: { Authorization: `Bearer {{ ${token} }}` },
    ...proxyParts,
  });
  return { keys: { key: caller.key, proxyKey: proxy.key }, ids: { application: owner.id, proxy: proxy.id } };
}

async function happen(end: Ending, ids: Parameters<Ending>[0]): Promise<void> {
  const tags = await end(ids);
  if (tags.length > 0) await gateway.current.announce(gateway.current.tenant.id, tags);
}

/** @returns the answer, and how many calls the destination got. */
type Waiting = (end: Ending, expiresAt?: Date) => Promise<Refused & { sent: number }>;

const duringBody: Waiting = async (end, expiresAt) => {
  const { destination, metrics } = gateway.current;
  const { keys, ids } = await rowsWith({ expiresAt });
  const before = destination.seen.length;
  async function* body() {
    yield Buffer.from('["no expression"');
    await eventually('the body is awaited', async () =>
      /^sluice_body_held_bytes\S* [1-9]/m.test(await metrics.metrics()),
    );
    await happen(end, ids);
    yield Buffer.from(']');
  }
  const headers = { 'Content-Type': 'application/json', 'Content-Length': 17 };
  const answer = await invokeAt(gateway.current, { ...keys, headers, body: body() });
  return { ...answer, sent: destination.seen.length - before };
};

const duringTransform: Waiting = async (end, expiresAt) => {
  const { db, destination } = gateway.current;
  const requestTransform = `module.exports = async ({ svc }) => {
    await svc.tokens.create({ type: 'token', data: 'a', containers: ['/general/'] });
    return {};
  }`;
  const { keys, ids } = await rowsWith({ expiresAt, requestTransform });
  const before = destination.seen.length;
  const { answering } = await db.transaction().execute(async (tx) => {
    await sql`lock table tokens in share row exclusive mode`.execute(tx);
    const answering = invokeAt(gateway.current, {
      ...keys,
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    await untilLockIsAwaited(db);
    await happen(end, ids);
    return { answering };
  });
  return { ...(await answering), sent: destination.seen.length - before };
};

const duringConnection: Waiting = (end, expiresAt) => duringConnectionOf(end, { expiresAt });

async function duringConnectionOf(end: Ending, parts: Parameters<typeof rowsWith>[0]) {
  const { tenant, holding, asked, metrics } = gateway.current;
  const first = await tenant.application();
  const holder = await tenant.proxy({ destination: holding });
  const { keys, ids } = await rowsWith({ ...parts, destination: holding });
  const before = asked.length;
  const held = invokeAt(gateway.current, { key: first.key, proxyKey: holder.key });
  await eventually('the connection is taken', () => asked.length === before + 1);
  const waiting = invokeAt(gateway.current, keys);
  await eventually('the wait', async () => /^sluice_destination_waiting\S* 1$/m.test(await metrics.metrics()));
  await happen(end, ids);
  asked[before]?.answer();
  await held;
  const isOver = waiting.then(() => true);
  await eventually('the next', async () => asked.length === before + 2 || (await Promise.race([isOver, false])));
  asked[before + 1]?.answer();
  return { ...(await waiting), sent: asked.length - before - 1 };
}

describe.each([
  ['its body', duringBody],
  ['its transform', duringTransform],
  ['a connection', duringConnection],
])('while a call waits for %s', (_, answerAfter) => {
  test.each(ends)('the Application $what', async ({ end, expiresAt, detail }) => {
    expect(await answerAfter(end, expiresAt?.())).toMatchObject({
      status: 403,
      detail: expect.stringContaining(detail),
      sent: 0,
    });
  });

  test.each([
    ['nothing happens', async () => []],
    ['the Application keeps its right by another rule', otherRule],
  ])('the control: %s', async (_what, end) => {
    expect(await answerAfter(end)).toMatchObject({ status: 200, sent: 1 });
  });
});

describe('while a call waits for a connection', () => {
  const requestHeaders = { Authorization: "{{ config: a | append: 'x' }}" };
  const configuration = { a: 'b' };
  /** As a write of the Proxy does it. */
  const stored =
    (field: 'configuration' | 'request_headers', members: object): Ending =>
    async ({ proxy }) => {
      const { db, tenant } = gateway.current;
      const written = await tenant.secretOf(proxy, field, members);
      await db
        .updateTable('proxies')
        .set({ [`${field}_ciphertext`]: written })
        .where('id', '=', proxy)
        .execute();
      return [tagOf.proxy(proxy)];
    };

  test.each([
    ['another value of the configuration', stored('configuration', { a: 'c' })],
    ['another header', stored('request_headers', { Authorization: '{{ config: a }}' })],
    ['a header more', stored('request_headers', { ...requestHeaders, 'X-A': 'b' })],
  ])('a Proxy that would send %s is asked again', async (_, end) => {
    expect(await duringConnectionOf(end, { requestHeaders, configuration })).toMatchObject({
      status: 503,
      detail: expect.stringContaining('was changed'),
      sent: 0,
    });
  });

  test('the control: headers that are encrypted anew change nothing', async () => {
    const end = stored('request_headers', requestHeaders);
    expect(await duringConnectionOf(end, { requestHeaders, configuration })).toMatchObject({ status: 200, sent: 1 });
  });
});
