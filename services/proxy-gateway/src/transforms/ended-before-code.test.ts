import { tagOf } from '@sluice/cache-coherence';
import { eventually, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import {
  createRows,
  type Happening,
  happen,
  nothing,
  proxyDeleted,
  revoked,
  send,
  value,
} from '../testing/rights-that-end.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** What the rights of an invocation no longer cover is not given to code, and what its code makes of values is not answered. */
const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_THREADS: '1', TRANSFORM_CPU_MS: '12000' }));

async function rowsWith(code: string, parts: Partial<ProxyParts> = {}) {
  const permissions = ['token:use', 'token:create', 'token:delete'];
  const { id: applicationId } = await gateway.current.tenant.application({ permissions });
  const requestTransform = `const { CustomHttpResponseError } = require('svc-errors');
    module.exports = async ({ args, svc }) => { ${code} };`;
  return { ...(await createRows(gateway.current, { requestTransform, applicationId, ...parts })), applicationId };
}

async function countStored(creator: string): Promise<number> {
  const { db } = gateway.current;
  return (await db.selectFrom('tokens').select('id').where('created_by', '=', creator).execute()).length;
}

const storing = "await svc.tokens.create({ type: 'token', data: 'seen' }); return {};";

describe('a transform that stores', () => {
  async function answerAfter(happens: Happening) {
    const { destination, metrics } = gateway.current;
    const { application, proxy, ids, applicationId } = await rowsWith(storing);
    const seenBefore = destination.seen.length;
    async function* body() {
      yield Buffer.from('["no expression"');
      await eventually('the body is awaited', async () =>
        /^sluice_body_held_bytes\S* [1-9]/m.test(await metrics.metrics()),
      );
      await happen(gateway.current, happens, ids);
      yield Buffer.from(']');
    }
    const asked = { key: application.key, proxyKey: proxy.key, body: ReadableStream.from(body()) };
    const { status } = await send(gateway.current, asked);
    const told = destination.seen.length - seenBefore;
    return { status, told, stored: await countStored(applicationId) };
  }

  test('does not run for a key that was revoked while the body came', async () => {
    expect(await answerAfter(revoked)).toEqual({ status: 401, told: 0, stored: 0 });
  });

  test('runs where nothing happens', async () => {
    expect(await answerAfter(nothing)).toEqual({ status: 200, told: 1, stored: 1 });
  });
});

describe('a message that waits for a thread', () => {
  const otherConfiguration: Happening = async ({ db }, { proxy: id }) => {
    await db.updateTable('proxies').set({ configuration_ciphertext: null }).where('id', '=', id).execute();
    return [tagOf.proxy(id)];
  };

  async function answerAfter(happens: Happening) {
    const { db, metrics } = gateway.current;
    const first = await rowsWith("await svc.detokenize('{{' + args.body[0] + '}}'); return {};");
    const { application, proxy, ids, applicationId } = await rowsWith(storing, { configuration: { a: 'b' } });
    const { holder, waiting } = await db.transaction().execute(async (tx) => {
      await sql`lock table tokens in access exclusive mode`.execute(tx);
      const body = JSON.stringify([first.token]);
      const holder = send(gateway.current, { key: first.application.key, proxyKey: first.proxy.key, body });
      await untilLockIsAwaited(db);
      const waiting = send(gateway.current, { key: application.key, proxyKey: proxy.key, body: '["no expression"]' });
      await eventually('the wait', async () => /^sluice_transform_waiting\S* 1$/m.test(await metrics.metrics()));
      await happen(gateway.current, happens, ids);
      return { holder, waiting };
    });
    expect((await holder).status).toBe(200);
    return { status: (await waiting).status, stored: await countStored(applicationId) };
  }

  test.each<[what: string, status: number, happens: Happening]>([
    ['a key that was revoked', 401, revoked],
    ['a Proxy that was deleted', 404, proxyDeleted],
    ['a Proxy that has another configuration', 503, otherConfiguration],
  ])('is not given to code for %s: %i', async (_, status, happens) => {
    expect(await answerAfter(happens)).toEqual({ status, stored: 0 });
  });

  test('is given to code where nothing happens', async () => {
    expect(await answerAfter(nothing)).toEqual({ status: 200, stored: 1 });
  });
});

describe.each([
  ['answers by itself', 'throw new CustomHttpResponseError({ status: 200, body: { seen } })', 200],
  ['throws what it has seen', 'throw new Error(seen)', 500],
])('a transform that %s', (_, ending, done) => {
  async function answerAfter(happens: Happening) {
    const { db } = gateway.current;
    const code = `const seen = await svc.detokenize('{{' + args.body[0] + '}}'); ${ending};`;
    const { application, proxy, token, ids } = await rowsWith(code);
    const { answering } = await db.transaction().execute(async (tx) => {
      await sql`lock table tokens in access exclusive mode`.execute(tx);
      const body = JSON.stringify([token]);
      const answering = send(gateway.current, { key: application.key, proxyKey: proxy.key, body });
      await untilLockIsAwaited(db);
      await happen(gateway.current, happens, ids);
      return { answering };
    });
    const { status, text } = await answering;
    return { status, isShown: text.includes(value) };
  }

  test('shows nothing for a key that was revoked while it ran', async () => {
    expect(await answerAfter(revoked)).toEqual({ status: 401, isShown: false });
  });

  test('is answered where nothing happens', async () => {
    expect(await answerAfter(nothing)).toMatchObject({ status: done });
  });
});

test('a transform may delete the token whose value it sends', async () => {
  const { db, destination } = gateway.current;
  const { application, proxy, token } = await rowsWith('await svc.tokens.delete(args.body[1]); return {};');
  const body = JSON.stringify([`{{ ${token} }}`, token]);
  const { status } = await send(gateway.current, { key: application.key, proxyKey: proxy.key, body });
  expect([status, destination.seen.at(-1)?.body]).toEqual([200, JSON.stringify([value, token])]);
  expect(await db.selectFrom('tokens').select('id').where('id', '=', token).execute()).toEqual([]);
});
