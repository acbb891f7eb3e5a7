/** Of whoever signs checkpoints or serves the keys that do. */
export const ledgerOriginSetting = {
  LEDGER_ORIGIN: {
    type: 'string',
    pattern: '^[A-Za-z0-9.:[\\]_-]+$',
    default: 'localhost:8080',
    description:
      'Host and port of the base URL, without a scheme; signed checkpoints name `<LEDGER_ORIGIN>/ledger/<tenant id>`, so ' +
      'it must stay the same',
  },
} as const;

export const ledgerPublicKeysSetting = {
  LEDGER_PUBLIC_KEYS: {
    type: 'string',
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
      'Ed25519 private key, PKCS#8 in PEM, that signs checkpoints of the audit log; without it the ledger is built and ' +
      'nothing is signed',
  },
} as const;
