import { announceIntegrityFailure } from './integrity-alarm.ts';

/** A damaged or swapped ciphertext or key, or a wrong root key. Constructing it raises the alarm; callers see a 500. */
export class IntegrityError extends Error {
  readonly code = 'VAULT_INTEGRITY';

  constructor(what: string, options?: ErrorOptions) {
    super(`Vault integrity: ${what}`, options);
    this.name = 'IntegrityError';
    announceIntegrityFailure(this);
  }
}
