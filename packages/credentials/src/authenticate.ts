import type { KeyObject } from 'node:crypto';
import { ServiceError } from '@sluice/problems';
import { hashKeyText, isSessionKey, isWellFormedApiKey } from './api-key.ts';
import type { Callers } from './callers.ts';
import type { Caller } from './find-caller.ts';
import type { KeyHashes } from './key-hashes.ts';
import type { KeyUses } from './key-uses.ts';

/** The same error for every refused key, because a difference would reveal which keys exist. */
export function unauthenticated(headerName: string): ServiceError {
  return new ServiceError('unauthenticated', `The ${headerName} header must contain a valid API key`);
}

export interface AuthenticationOptions {
  callers: Callers;
  pepper: KeyObject;
  /** Notes that the key was used. */
  keyUses: Pick<KeyUses, 'note'>;
  /** Of the connection that sent the key. */
  hashes?: KeyHashes;
  /** Named in the refusal, for example `SVC-API-KEY`. */
  headerName: string;
}

/** @throws {ServiceError} `unauthenticated` if the key is missing, malformed, unknown, expired or deleted. */
export async function authenticate(
  key: unknown,
  { callers, pepper, keyUses, hashes, headerName }: AuthenticationOptions,
): Promise<Caller> {
  if (typeof key !== 'string' || !isWellFormedApiKey(key)) throw unauthenticated(headerName);
  const hashText = hashes ? hashes.of(pepper, key) : hashKeyText(pepper, key);
  const found = isSessionKey(key) ? callers.bySessionKeyHash(hashText) : callers.byKeyHash(hashText);
  const caller = found instanceof Promise ? await found : found;
  if (!caller) throw unauthenticated(headerName);
  keyUses.note(caller);
  return caller;
}
