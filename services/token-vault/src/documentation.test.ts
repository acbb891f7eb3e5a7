import { randomUUID } from 'node:crypto';
import { generateApiKey, hashKey, readPepper } from '@sluice/credentials';
import { call, openTestDatabase, randomSecrets, startTestService, useStack } from '@sluice/testing';
import { operations } from './app.ts';
import { configSchema } from './config.ts';
import { start } from './service.ts';

const secrets = randomSecrets();

const service = useStack(async (stack) => {
  const { db, url: databaseUrl } = await openTestDatabase(stack);
  const { url } = await startTestService({ configSchema, start }, { databaseUrl, secrets, stack });
  const tenant_id = randomUUID();
  await db.insertInto('tenants').values({ id: tenant_id, owner_id: randomUUID(), name: 'T' }).execute();
  const key = generateApiKey('test', 'private');
  const key_hash = hashKey(readPepper(secrets.KEY_PEPPER), key);
  const permissions = ['token:create', 'token:read'];
  await db
    .insertInto('applications')
    .values({ id: randomUUID(), tenant_id, name: 'A', type: 'private', permissions, rules: '[]', key_hash })
    .execute();
  return { url, key };
});

test('/openapi.json needs no key, and has the operations of this service', async () => {
  const { status, headers, body } = await call(service.current.url, 'GET', '/openapi.json');
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'application/json; charset=utf-8',
    'public, max-age=300',
  ]);
  const ids = Object.values<object>(body.paths).flatMap((item) => Object.values(item).map((one) => one.operationId));
  expect(ids.sort()).toEqual(operations.map(({ id }) => id).sort());
});

test('/openapi.json takes GET and HEAD only', async () => {
  expect((await call(service.current.url, 'HEAD', '/openapi.json')).status).toBe(200);
  const { status, headers } = await call(service.current.url, 'POST', '/openapi.json');
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

const creating = operations.flatMap((operation) => {
  if (operation.permission !== 'token:create') return [];
  const { examples = [] } = operation.body as { examples?: readonly unknown[] };
  return examples.map((example) => [operation.path, example, Number(Object.keys(operation.response).at(-1))] as const);
});

test.each(creating)('%s takes the example that the reference shows: %j', async (path, body, success) => {
  const { url, key } = service.current;
  expect((await call(url, 'POST', path, { key, body })).status).toBe(success);
});
