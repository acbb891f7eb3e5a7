export const vaultSettings = {
  KEY_PROVIDER: {
    type: 'string',
    enum: ['local', 'vault-transit'],
    default: 'local',
    description: 'Where the root key is: local (ROOT_KEY), or vault-transit (HashiCorp Vault or OpenBao)',
  },
  ROOT_KEY: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description:
      'Root key of the vault, 32 random bytes as base64, for example from: openssl rand -base64 32; required with KEY_PROVIDER local',
  },
  ROOT_KEY_PREVIOUS: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description: 'Root keys that still open what they wrapped, comma separated; for a rotation',
  },
  VAULT_ADDR: {
    type: 'string',
    pattern: '^https?://[^@?#\\s]+$',
    description: 'Vault or OpenBao, for example https://vault.internal:8200; required with KEY_PROVIDER vault-transit',
  },
  VAULT_TOKEN: {
    type: 'string',
    minLength: 1,
    pattern: '^[\\x21-\\x7e]+$',
    writeOnly: true,
    description: 'Token that may encrypt and decrypt with the transit key; required with KEY_PROVIDER vault-transit',
  },
  VAULT_TRANSIT_MOUNT: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$',
    default: 'transit',
    description: 'Path at which the transit engine is mounted',
  },
  VAULT_TRANSIT_KEY: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Name of the transit key, of type aes256-gcm96; required with KEY_PROVIDER vault-transit',
  },
} as const;

/** What each provider requires: `allOf` of a schema that has {@link vaultSettings}. */
export const vaultConditions = [
  {
    if: { properties: { KEY_PROVIDER: { const: 'vault-transit' } }, required: ['KEY_PROVIDER'] },
    // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's word, and nobody awaits a schema
    then: { required: ['VAULT_ADDR', 'VAULT_TOKEN', 'VAULT_TRANSIT_KEY'] },
    else: { required: ['ROOT_KEY'] },
  },
] as const;
