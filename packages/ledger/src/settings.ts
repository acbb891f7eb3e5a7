export const ledgerOriginSettings = {
  BASE_URL: {
    type: 'string',
    pattern: '^https?://[^/]+/?$',
    description: 'Where clients reach the platform; its host and port name the ledger of the audit log',
  },
  LEDGER_ORIGIN: {
    type: 'string',
    pattern: '^[A-Za-z0-9.:[\\]_-]+$',
    description:
      'Signed checkpoints of the audit log name `<LEDGER_ORIGIN>/ledger/<tenant id>`, so it must not ' +
      'change. Default: host and port of `BASE_URL`, or `localhost:8080`; set it before you change ' +
      '`BASE_URL`',
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
      'Public keys that sign or have signed checkpoints of the audit log, comma separated, the current one first, each what ' +
      '`openssl pkey -in FILE -pubout -outform DER | tail -c 32 | base64` prints; served to whoever verifies, who gets 404 ' +
      'without it',
  },
} as const;

export const ledgerKeySetting = {
  LEDGER_KEY: {
    type: 'string',
    minLength: 1,
    writeOnly: true,
    description:
      'Ed25519 private key (PKCS#8, PEM) that signs checkpoints of the audit log; without it nothing is signed',
  },
} as const;
