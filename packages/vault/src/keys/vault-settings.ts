export const vaultSettings = {
  KEY_PROVIDER: {
    type: 'string',
    enum: ['local', 'vault-transit'],
    default: 'local',
    description: 'Where the root key is stored. `local`: in ROOT_KEY. `vault-transit`: in HashiCorp Vault or OpenBao',
  },
  ROOT_KEY: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description: '32 random bytes as base64 (openssl rand -base64 32)',
  },
  ROOT_KEY_PREVIOUS: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description:
      'Other root keys with which data keys can be decrypted, separated by commas. Set it only during a rotation of the root key: first to the next root key, then to the previous one',
  },
  VAULT_ADDR: {
    type: 'string',
    pattern: '^https?://[^@?#\\s]+$',
    format: 'url',
    description: 'URL of Vault or OpenBao, such as https://vault.internal:8200',
  },
  VAULT_TOKEN: {
    type: 'string',
    minLength: 1,
    pattern: '^[\\x21-\\x7e]+$',
    writeOnly: true,
    description: 'Token that may encrypt and decrypt with the transit key',
  },
  VAULT_TRANSIT_MOUNT: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$',
    default: 'transit',
    description: 'Path of the transit engine',
  },
  VAULT_TRANSIT_KEY: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Name of the transit key (type aes256-gcm96)',
  },
} as const;

/** Settings that each provider requires: `allOf` of a schema that has {@link vaultSettings}. */
export const vaultConditions = [
  {
    if: { properties: { KEY_PROVIDER: { const: 'vault-transit' } }, required: ['KEY_PROVIDER'] },
    // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema's word, and nobody awaits a schema
    then: { required: ['VAULT_ADDR', 'VAULT_TOKEN', 'VAULT_TRANSIT_KEY'] },
    else: { required: ['ROOT_KEY'] },
  },
] as const;
