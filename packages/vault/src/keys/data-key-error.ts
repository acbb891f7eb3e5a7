import { IntegrityError } from '../encryption/integrity-error.ts';
import type { KeyOwner } from './data-key.queries.ts';
import { contextOf } from './generate-data-key.ts';

export interface UnopenedKey {
  owner: KeyOwner;
  version: number;
  /** The root key that wrapped it; undefined if the data key does not exist. */
  rootKeyId?: string;
}

/** A data key is missing or cannot be unwrapped. The ciphertexts under it may be intact. */
export class DataKeyError extends IntegrityError {
  readonly owner: KeyOwner;
  readonly version: number;
  readonly rootKeyId: string | undefined;

  constructor({ owner, version, rootKeyId }: UnopenedKey, options?: ErrorOptions) {
    const how = rootKeyId === undefined ? 'does not exist' : `does not unwrap; it was wrapped by ${rootKeyId}`;
    super(`data key ${contextOf(owner, version)} ${how}`, options);
    this.owner = owner;
    this.version = version;
    this.rootKeyId = rootKeyId;
  }
}
