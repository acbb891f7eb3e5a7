import { useStack } from '@sluice/testing';
import { operations } from '../app.ts';
import { sampleRequest } from '../testing/sample-requests.ts';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const withBody = operations.flatMap((operation) => {
  const { examples = [] } = (operation.body ?? {}) as { examples?: readonly unknown[] };
  return examples.map((example) => [operation.id, operation, example] as const);
});

test('there is an example for every operation with a body', () => {
  const ids = operations.filter(({ body }) => body !== undefined).map(({ id }) => id);
  expect([...new Set(withBody.map(([id]) => id))].sort()).toEqual(ids.sort());
});

async function ownNonce() {
  const { nonce, authorizer } = await api.current.waitingSession();
  return { key: authorizer.key as string, body: { nonce } };
}

async function createTarget(path: string): Promise<string> {
  const { application, proxy, formula, reactor, memberId } = api.current;
  if (path.startsWith('/tenants/self/members')) return memberId();
  if (path.startsWith('/reactor-formulas')) return (await formula()).id;
  if (path.startsWith('/reactors')) return (await reactor()).id;
  return (await (path.startsWith('/applications') ? application() : proxy())).id;
}

interface Asked {
  token_id: string;
  path_name?: string;
}

/** What the question of an example names. */
async function createAsked({ token_id: id, path_name }: Asked): Promise<void> {
  const { db, proxy, token } = api.current;
  await db.deleteFrom('tokens').where('id', '=', id).execute();
  await token({ id });
  if (path_name !== undefined) await proxy({ path_name });
}

test.each(withBody)('%s takes the example that the reference shows', async (_id, operation, example) => {
  const { send, db, tenant } = api.current;
  // Several examples give a Proxy the same name
  await db.updateTable('proxies').set({ path_name: null }).where('tenant_id', '=', tenant.tenant_id).execute();
  const { method, path, options } = sampleRequest(operation, await createTarget(operation.path));
  const own = operation.id === 'authorizeSession' ? await ownNonce() : undefined;
  const body = { ...(example as object), ...own?.body };
  if (operation.id === 'explainAccess') await createAsked(example as Asked);
  const { status } = await send(method, path, { ...options, ...own, body });
  expect(status).toBe(Number(Object.keys(operation.response)[0]));
});
