import { ConfigError } from '@sluice/service-runtime';
import { useStack } from '@sluice/testing';
import { startTestManagement } from '../../testing/test-management.ts';
import { readIssuers } from './issuer.settings.ts';

const good = { name: 'one', issuer: 'https://one.test/realm', client_id: 'sluice', client_secret: 'hidden-4711' };
const tenant_id = '0C5F2A4E-8B1D-4A2C-9A55-3F6F0C7D2E11';
const group = { group: 'admins', tenant_id, role: 'ADMIN' };

function faultsOf(value: unknown): string {
  try {
    readIssuers(typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

test('an entry may leave out what has a default, and ids are canonical', () => {
  const [issuer] = readIssuers(JSON.stringify([{ ...good, groups_claim: 'groups', groups: [group] }]));
  const expected = {
    email_verified_claim: 'email_verified',
    groups: [{ ...group, tenant_id: tenant_id.toLowerCase() }],
  };
  expect(issuer).toEqual({ ...good, ...expected, groups_claim: 'groups' });
  expect(readIssuers(undefined)).toEqual([]);
});

test.each([
  ['{', 'OIDC_ISSUERS: is no JSON'],
  [{}, 'OIDC_ISSUERS: must be an array'],
  [[], 'OIDC_ISSUERS: must not be empty'],
  ...(['name', 'issuer', 'client_id', 'client_secret'] as const).map(
    (member) => [[good, { ...good, [member]: undefined }], `OIDC_ISSUERS[1].${member}: is required`] as const,
  ),
  [[{ ...good, group_claim: 'x' }], 'OIDC_ISSUERS[0].group_claim: is not a known field'],
  [[{ ...good, name: 'One/..' }], 'OIDC_ISSUERS[0].name: must match'],
  [[{ ...good, groups: [group] }], 'OIDC_ISSUERS[0].groups_claim: is required with groups'],
  [[{ ...good, groups_claim: 'g', groups: [{ ...group, role: 'OWNER' }] }], 'OIDC_ISSUERS[0].groups[0].role: '],
  [[{ ...good, groups_claim: 'g', groups: [{ ...group, tenant_id: 'x' }] }], 'OIDC_ISSUERS[0].groups[0].tenant_id: '],
  [[good, { ...good, issuer: 'https://two.test' }], 'OIDC_ISSUERS[1].name: an earlier entry already has it'],
  [[good, { ...good, name: 'two' }], 'OIDC_ISSUERS[1].issuer: an earlier entry already has it'],
] as const)('%j stops the start with %j, and says no secret', (value, expected) => {
  const message = faultsOf(value);
  expect(message).toContain(expected);
  expect(message).not.toContain('4711');
});

test.each([
  'http://one.test',
  'one.test',
  'ftp://one.test',
  'https://a:b@one.test',
  'https://one.test?x',
  'https://one.test#x',
  'http://localhost.one.test',
])('%s is no issuer', (issuer) =>
  expect(faultsOf([{ ...good, issuer }])).toContain('OIDC_ISSUERS[0].issuer: must be an https address'),
);

test.each(['http://localhost:8080/realm', 'http://127.0.0.1:1'])('%s is one, for this machine', (issuer) => {
  expect(readIssuers(JSON.stringify([{ ...good, issuer }]))[0]?.issuer).toBe(issuer);
});

describe('the start', () => {
  const lines = useStack(async (stack) => {
    const { logLines } = await startTestManagement(stack, { CONSOLE_HOST: 'console.test' });
    return logLines.join('');
  });

  test('says that invitations cannot be accepted where nothing allows it, and that the console needs https', () => {
    expect(lines.current).toContain('invitations cannot be accepted');
    expect(lines.current).toContain('by https only');
  });

  test('needs the host of the console', async () => {
    await using stack = new AsyncDisposableStack();
    await expect(startTestManagement(stack, { OIDC_ISSUERS: JSON.stringify([good]) })).rejects.toThrow(
      'CONSOLE_HOST: is required with OIDC_ISSUERS',
    );
  });
});
