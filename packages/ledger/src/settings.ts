export const ledgerOriginSettings = {
  LEDGER_ORIGIN: {
    type: 'string',
    pattern: '^[A-Za-z0-9.:[\\]_-]+$',
    description:
      'Name of the ledger in checkpoints. It must never change. Default: host and port of `BASE_URL`. Set LEDGER_ORIGIN ' +
      'before you change BASE_URL',
  },
} as const;

export function ledgerOriginOf(settings: {
  LEDGER_ORIGIN?: string | undefined;
  BASE_URL?: string | undefined;
}): string {
  return settings.LEDGER_ORIGIN ?? new URL(settings.BASE_URL ?? 'http://localhost:8080').host;
}

export const ledgerPublicKeysSetting = {
  LEDGER_PUBLIC_KEYS: {
    type: 'string',
    fromFile: true,
    description:
      'All public keys of checkpoints, comma separated, the current one first. `openssl pkey -in FILE -pubout ' +
      '-outform DER | tail -c 32 | base64` prints one',
  },
} as const;

export const ledgerKeySetting = {
  LEDGER_KEY: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description: 'Ed25519 private key (PKCS#8, PEM) that signs checkpoints',
  },
} as const;
