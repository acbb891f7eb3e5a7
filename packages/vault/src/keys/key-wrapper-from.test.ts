import { randomBytes } from 'node:crypto';
import { readConfig } from '@sluice/service-runtime';
import { startTransitServer } from '../testing/transit-server.ts';
import type { KeyWrapper } from './key-wrapper.ts';
import { keyWrapperFrom } from './key-wrapper-from.ts';
import { vaultConditions, vaultSettings } from './vault-settings.ts';

const schema = { type: 'object', properties: vaultSettings, allOf: vaultConditions } as const;
const rootKey = () => randomBytes(32).toString('base64');
const silent = { error: () => undefined, info: () => undefined };
const open = (env: Record<string, string>): KeyWrapper => keyWrapperFrom(readConfig(schema, env), silent);
const context = 'tenant/token_data/1';
const key = randomBytes(32);

async function opens(wrapper: KeyWrapper, wrappedBy: KeyWrapper): Promise<boolean> {
  const { wrapped, keyId } = await wrappedBy.wrap(key, context);
  return wrapper.unwrap(wrapped, { context, keyId }).then(
    (bytes) => bytes.equals(key),
    () => false,
  );
}

test('settings that the provider needs and lacks are told at once; those of the other are not asked for', () => {
  const faults = (env: Record<string, string>) => {
    try {
      readConfig(schema, env);
    } catch (error) {
      return (error as Error).message
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(':')[0]);
    }
    return [];
  };
  expect(faults({})).toEqual(['ROOT_KEY']);
  expect(faults({ KEY_PROVIDER: '' })).toEqual(['ROOT_KEY']);
  expect(faults({ KEY_PROVIDER: 'local', VAULT_ADDR: 'vault' }).sort()).toEqual(['ROOT_KEY', 'VAULT_ADDR']);
  expect(faults({ KEY_PROVIDER: 'vault-transit' }).sort()).toEqual(['VAULT_ADDR', 'VAULT_TOKEN', 'VAULT_TRANSIT_KEY']);
  expect(faults({ KEY_PROVIDER: 'kms', ROOT_KEY: rootKey() })).toEqual(['KEY_PROVIDER']);
  expect(faults({ ROOT_KEY: rootKey() })).toEqual([]);
});

test('local: the previous root keys open, the current one wraps', async () => {
  const [first, second, third] = [rootKey(), rootKey(), rootKey()];
  const wrapper = open({ ROOT_KEY: third, ROOT_KEY_PREVIOUS: `${first}, ${second}` });
  for (const ROOT_KEY of [first, second, third]) expect(await opens(wrapper, open({ ROOT_KEY }))).toBe(true);
  expect(await opens(wrapper, open({ ROOT_KEY: rootKey() }))).toBe(false);
  expect(await wrapper.currentKeyId()).toBe(await open({ ROOT_KEY: third }).currentKeyId());
});

test('what the other provider wrapped opens for as long as its settings are given, in both directions', async () => {
  await using stack = new AsyncDisposableStack();
  const { address, token, key: name } = await startTransitServer(stack);
  const ROOT_KEY = rootKey();
  const service = { VAULT_ADDR: `${address}/`, VAULT_TOKEN: token, VAULT_TRANSIT_KEY: name };
  const local = open({ ROOT_KEY });
  const transit = open({ KEY_PROVIDER: 'vault-transit', ...service });
  expect(await opens(open({ KEY_PROVIDER: 'vault-transit', ...service, ROOT_KEY_PREVIOUS: ROOT_KEY }), local)).toBe(
    true,
  );
  expect(await opens(open({ KEY_PROVIDER: 'vault-transit', ...service, ROOT_KEY }), local)).toBe(true);
  expect(await opens(open({ ROOT_KEY, ...service }), transit)).toBe(true);
  expect(await opens(transit, local)).toBe(false);
  expect(await opens(local, transit)).toBe(false);
  expect(await transit.currentKeyId()).toBe('vault-transit:transit/sluice:v1');
});
