import type { KeyWrapper, RootKeys } from './key-wrapper.ts';
import { localRootKeys } from './local-key-wrapper.ts';
import { type KeyServiceLog, transitRootKeys } from './transit-key-wrapper.ts';

export interface KeyWrapperConfig {
  KEY_PROVIDER: 'local' | 'vault-transit';
  ROOT_KEY?: string | undefined;
  ROOT_KEY_PREVIOUS?: string | undefined;
  VAULT_ADDR?: string | undefined;
  VAULT_TOKEN?: string | undefined;
  VAULT_TRANSIT_MOUNT: string;
  VAULT_TRANSIT_KEY?: string | undefined;
}

/** Keys of every setting can unwrap what they wrapped. @throws {Error} that names the setting and shows no secret. */
export function keyWrapperFrom(config: KeyWrapperConfig, log: KeyServiceLog): KeyWrapper {
  const local = localRootKeysFrom(config);
  const transit = transitRootKeysFrom(config, log);
  const [current, other] = config.KEY_PROVIDER === 'local' ? [local, transit] : [transit, local];
  if (!current) throw new Error(`The settings of KEY_PROVIDER ${config.KEY_PROVIDER} are not complete`);
  if (!other) return current;
  return {
    currentKeyId: () => current.currentKeyId(),
    wrap: (key, context) => current.wrap(key, context),
    unwrap: (wrapped, by) => (other.has(by.keyId) ? other : current).unwrap(wrapped, by),
  };
}

function localRootKeysFrom({ KEY_PROVIDER, ROOT_KEY, ROOT_KEY_PREVIOUS }: KeyWrapperConfig): RootKeys | undefined {
  const previous = (ROOT_KEY_PREVIOUS?.split(',') ?? []).map((base64) => ({ setting: 'ROOT_KEY_PREVIOUS', base64 }));
  const [first, ...others] =
    ROOT_KEY === undefined ? previous : [{ setting: 'ROOT_KEY', base64: ROOT_KEY }, ...previous];
  // Previous keys never wrap: without ROOT_KEY they only unwrap keys that are being moved to another provider.
  if (first === undefined || (ROOT_KEY === undefined && KEY_PROVIDER === 'local')) return undefined;
  return localRootKeys(first, others);
}

function transitRootKeysFrom(config: KeyWrapperConfig, log: KeyServiceLog): RootKeys | undefined {
  const { VAULT_ADDR, VAULT_TOKEN, VAULT_TRANSIT_MOUNT, VAULT_TRANSIT_KEY } = config;
  if (VAULT_ADDR === undefined || VAULT_TOKEN === undefined || VAULT_TRANSIT_KEY === undefined) return undefined;
  return transitRootKeys({
    address: VAULT_ADDR,
    token: VAULT_TOKEN,
    mount: VAULT_TRANSIT_MOUNT,
    key: VAULT_TRANSIT_KEY,
    log,
  });
}
