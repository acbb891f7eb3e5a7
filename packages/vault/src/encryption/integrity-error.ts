import { announceIntegrityFailure } from './integrity-alarm.ts';

/**
 * A stored ciphertext or key was damaged or swapped, or the root key is the wrong one. Constructing the error raises
 * the alarm; the caller sees a bare 500.
 */
export class IntegrityError extends Error {
  readonly code = 'VAULT_INTEGRITY';

  constructor(what: string, options?: ErrorOptions) {
    super(`Vault integrity: ${what}`, options);
    this.name = 'IntegrityError';
    announceIntegrityFailure(this);
  }
}
