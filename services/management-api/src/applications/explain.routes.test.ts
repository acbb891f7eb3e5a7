import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const cards = {
  description: 'Cards',
  priority: 2,
  container: '/pci/',
  transform: 'mask',
  permissions: ['token:read', 'token:create'],
};
const support = { priority: 1, container: '/pci/high/', transform: 'redact', permissions: ['token:read'] };
const granted = { permissions: ['token:delete', 'token:read'], rules: [cards, support] };

async function ask(body: object, part: object = granted, path?: string) {
  const { id } = await api.current.application(part);
  return api.current.send('POST', path ?? `/applications/${id}/explain`, { body });
}

test.each([
  ['/pci/', 'token:read', { allowed: true, transform: 'mask', decided_by: { rule: 0 } }],
  ['/pci/high/a/', 'token:read', { allowed: true, transform: 'redact', decided_by: { rule: 1 } }],
  ['/other/', 'token:read', { allowed: true, transform: 'mask', decided_by: { permission: 'token:read' } }],
  ['/pci/', 'token:delete', { allowed: true, transform: 'mask', decided_by: { permission: 'token:delete' } }],
  ['/pci/', 'token:use', { allowed: false }],
  ['/pci/', 'token:create', { allowed: true, transform: 'mask', decided_by: { rule: 0 } }],
  ['/other/', 'token:create', { allowed: false }],
])('a token in %s, %s', async (container, operation, expected) => {
  const token_id = await api.current.token({ containers: [container] });
  const { status, body } = await ask({ token_id, operation });
  expect(status).toBe(200);
  expect(body).toEqual({ ...expected, reason: expect.any(String) });
});

test('creating needs a grant on each container, reading on one of them', async () => {
  const token_id = await api.current.token({ containers: ['/pci/', '/other/'] });
  const only = { permissions: [], rules: [cards] };
  expect((await ask({ token_id, operation: 'token:read' }, only)).body).toMatchObject({ allowed: true });
  const { body } = await ask({ token_id, operation: 'token:create' }, only);
  expect(body).toEqual({
    allowed: false,
    reason: 'Neither a rule nor a permission of the Application grants token:create on a token in /other/.',
  });
});

test('the sentence names the rule by position and description', async () => {
  const token_id = await api.current.token();
  const { body } = await ask({ token_id, operation: 'token:read' });
  expect(body.reason).toMatch(/^rules\[0\] \(Cards\) decides/);
});

test("unknown, expired and another Tenant's tokens are 404 alike", async () => {
  const { token, stranger } = api.current;
  const theirs = await token({ tenant_id: stranger.tenant_id });
  const expired = await token({ expires_at: new Date(0).toISOString() });
  for (const token_id of [randomUUID(), theirs, expired, 'a/b']) {
    expect(await ask({ token_id, operation: 'token:read' })).toMatchObject({
      status: 404,
      body: { detail: 'There is no token with this token_id' },
    });
  }
});

test.each([
  ['operation', { token_id: 'abc', operation: 'proxy:read' }],
  ['operation', { token_id: 'abc' }],
  ['token_id', { operation: 'token:read' }],
  ['token_id', { token_id: '', operation: 'token:read' }],
  ['token_id', { token_id: 5, operation: 'token:read' }],
  ['token_id', { token_id: 'x'.repeat(401), operation: 'token:read' }],
])('a faulty %s is 400', async (member, body) => {
  const { status, body: problem } = await ask(body);
  expect({ status, members: Object.keys(problem.errors) }).toEqual({ status: 400, members: [member] });
});
