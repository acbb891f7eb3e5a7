import { useStack } from '@sluice/testing';
import { operations } from '../app.ts';
import { sampleRequest } from '../testing/sample-requests.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

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

test.each(withBody)('%s takes the example that the reference shows', async (_id, operation, example) => {
  const { application, proxy, send } = api.current;
  const resource = await (operation.path.startsWith('/applications') ? application() : proxy());
  const { method, path, options } = sampleRequest(operation, resource.id);
  const own = operation.id === 'authorizeSession' ? await ownNonce() : undefined;
  const body = { ...(example as object), ...own?.body };
  const { status } = await send(method, path, { ...options, ...own, body });
  expect(status).toBe(Number(Object.keys(operation.response)[0]));
});
