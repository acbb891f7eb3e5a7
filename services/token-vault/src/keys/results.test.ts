import { DataKeyError } from '@sluice/vault';
import { describeUnopened } from './results.ts';

const key = { owner: { tenantId: 'a-tenant', purpose: 'token_data' }, version: 3 } as const;

test.each([
  [
    { rootKeyId: 'local:12ab' },
    'it was wrapped by a root key that the settings do not give',
    ['local:12ab. Give it in ROOT_KEY_PREVIOUS', 'Keep the rows that this key encrypts'],
  ],
  [
    { rootKeyId: 'vault-transit:transit/sluice:v2' },
    'the key service refuses to decrypt it (400)',
    ['(400)', 'transit/sluice:v2. Check VAULT_ADDR', 'VAULT_TRANSIT_KEY', 'Keep the rows that this key encrypts'],
  ],
  [{}, undefined, ['Data key token_data 3 does not exist', 'from a backup', 'Keep the rows that this key encrypts']],
])('a data key that does not open is named with what opens it, and no row is to be deleted: %j', (root, why, said) => {
  const text = describeUnopened(new DataKeyError({ ...key, ...root }, { cause: why && new Error(why) }));
  expect(text).toContain('Data key token_data 3');
  for (const part of said) expect(text).toContain(part);
  expect(text).not.toMatch(/delete/i);
});
