import { announceIntegrityFailure } from './integrity-alarm.ts';

/**
 * Stored ciphertext or a stored key is not what was written: damaged, swapped, or read with the wrong root key. To the
 * caller it is a bare 500; making one raises the alarm.
 */
export class IntegrityError extends Error {
  readonly code = 'VAULT_INTEGRITY';

  constructor(what: string, options?: ErrorOptions) {
    super(`Vault integrity: ${what}`, options);
    this.name = 'IntegrityError';
    announceIntegrityFailure(this);
  }
}
