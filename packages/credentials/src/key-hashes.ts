import type { KeyObject } from 'node:crypto';
import { hashKeyText } from './api-key.ts';

/**
 * The last two keys that a connection sent, and their hashes. Clients send the same keys in each request of a
 * connection, and hashing an API key and a Proxy key takes a twentieth of an invocation. One instance belongs to one
 * connection, so that keys stay in memory no longer than it lasts, and no caller can measure how close it came to the
 * key of another connection.
 */
export class KeyHashes {
  #last: KnownKey | undefined;
  #other: KnownKey | undefined;

  /** As {@link hashKeyText}. */
  of(pepper: KeyObject, key: string): string {
    if (this.#last?.key === key) return this.#last.hashText;
    const known = this.#other?.key === key ? this.#other : { key, hashText: hashKeyText(pepper, key) };
    this.#other = this.#last;
    this.#last = known;
    return known.hashText;
  }
}

interface KnownKey {
  key: string;
  hashText: string;
}
