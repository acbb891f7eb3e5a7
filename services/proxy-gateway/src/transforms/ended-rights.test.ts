import { call, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestGateway } from '../testing/test-gateway.ts';

/** A call of `svc` waits for Postgres, and meanwhile the rights of the Application end, confirmed by the gateway. */
const gateway = useStack((stack) => startTestGateway(stack, { TRANSFORM_CPU_MS: '12000' }));

type Mode = 'access exclusive' | 'exclusive';

const calls: [string, Mode][] = [
  ["await svc.detokenize('{{' + args.body.id + '}}')", 'access exclusive'],
  ['await svc.tokens.retrieve(args.body.id)', 'access exclusive'],
  ["await svc.tokens.update(args.body.id, { metadata: { a: 'b' } })", 'exclusive'],
  ['await svc.tokens.delete(args.body.id) ?? null', 'exclusive'],
];

async function answerOf(code: string, { mode, isDeleted }: { mode: Mode; isDeleted: boolean }) {
  const { db, announce, tenant, destination, url } = gateway.current;
  const permissions = ['token:use', 'token:read', 'token:update', 'token:delete'];
  const { id } = await tenant.application({ permissions });
  const token = await tenant.token({ data: 'the value', mask: 'seen' });
  const requestTransform = `module.exports = async ({ args, svc }) => {
    try { return { body: { answer: ${code} } } } catch (error) { return { body: { code: error.code } } } }`;
  const parts = { destination: destination.url, requireAuth: false, requestTransform, applicationId: id };
  const proxy = await tenant.proxy(parts);
  const { invoked } = await db.transaction().execute(async (tx) => {
    await sql`lock table tokens in ${sql.raw(mode)} mode`.execute(tx);
    const invoked = call(url, 'POST', '/proxy', { headers: { 'SVC-PROXY-KEY': proxy.key }, body: { id: token } });
    await untilLockIsAwaited(db);
    if (isDeleted) {
      await db.deleteFrom('applications').where('id', '=', id).execute();
      await announce(tenant.id, [`application:${id}`]);
    }
    return { invoked };
  });
  await invoked;
  const row = await db.selectFrom('tokens').select('metadata').where('id', '=', token).executeTakeFirst();
  return { received: JSON.parse(destination.seen.at(-1)?.body ?? ''), row };
}

describe.each(calls)('%s', (code, mode) => {
  test('tells and changes nothing once the Application was deleted during it', async () => {
    expect(await answerOf(code, { mode, isDeleted: true })).toEqual({
      received: { code: 'unauthenticated' },
      row: { metadata: {} },
    });
  });

  test('is done for an Application that is as it was', async () => {
    expect((await answerOf(code, { mode, isDeleted: false })).received).toHaveProperty('answer');
  });
});
