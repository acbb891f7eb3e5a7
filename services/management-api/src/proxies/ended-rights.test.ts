import { ServiceError } from '@sluice/problems';
import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';
import { checkTransforms } from './proxy.definition.ts';

const api = useStack((stack) => startTestManagement(stack));

const definition = { name: 'P', destination_url: 'https://example.com', require_auth: true };

async function check(code: Partial<Record<'request_transform' | 'response_transform', { code: string }>>) {
  const steps: string[] = [];
  const compile = async (text: string) => {
    steps.push(`compiles ${text}`);
    return undefined;
  };
  const checkCallerAgain = async () => {
    steps.push('checks the caller');
    throw new ServiceError('unauthenticated', 'The key was deleted');
  };
  const caller = { tenantId: 't', checkCallerAgain };
  const refused = await checkTransforms({ ...definition, ...code }, caller, { transforms: { compile } }).then(
    () => false,
    (error: unknown) => error instanceof ServiceError && error.code === 'unauthenticated',
  );
  return { steps, refused };
}

test('a key that was deleted while code waited to be compiled is refused', async () => {
  const code = { request_transform: { code: '1' }, response_transform: { code: '2' } };
  expect(await check(code)).toEqual({ steps: ['compiles 1', 'compiles 2', 'checks the caller'], refused: true });
});

test('without code nothing is waited for, so the caller is not looked up again', async () => {
  expect(await check({})).toEqual({ steps: [], refused: false });
});

describe.each(['one Proxy', 'a list'])('%s that waited for Postgres', (what) => {
  test.each([
    [401, 'shows no configuration to a key that was deleted meanwhile'],
    [200, 'is answered to a key that is still there'],
  ])('%i: %s', async (expected) => {
    const { db, application, proxy, send } = api.current;
    const reader = await application({ type: 'management', permissions: ['proxy:read'] });
    const { id } = await proxy({ configuration: { SECRET: 'the value' } });
    const { answer } = await db.transaction().execute(async (tx) => {
      await sql`lock table proxies in access exclusive mode`.execute(tx);
      const answer = send('GET', what === 'a list' ? `/proxies?id=${id}` : `/proxies/${id}`, { key: reader.key });
      await untilLockIsAwaited(db);
      if (expected === 401) await db.deleteFrom('application_keys').where('application_id', '=', reader.id).execute();
      return { answer };
    });
    const { status, body } = await answer;
    expect([status, JSON.stringify(body).includes('the value')]).toEqual([expected, expected === 200]);
  });
});
