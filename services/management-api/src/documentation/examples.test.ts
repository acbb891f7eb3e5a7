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

test.each(withBody)('%s takes the example that the reference shows', async (_id, operation, example) => {
  const { send, token } = api.current;
  const { method, path, options } = sampleRequest(operation, await createTarget(operation.path));
  const own = operation.id === 'authorizeSession' ? await ownNonce() : undefined;
  const body = { ...(example as object), ...own?.body };
  if (operation.id === 'explainAccess') await token({ id: (example as { token_id: string }).token_id });
  const { status } = await send(method, path, { ...options, ...own, body });
  expect(status).toBe(Number(Object.keys(operation.response)[0]));
});
