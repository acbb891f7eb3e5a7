import type { KeyObject } from 'node:crypto';
import { actorTypeOf, type Callers, type Invalidations, type KeyUses } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { type Acting, type Asking, operationsOf } from '@sluice/http-api';
import type { Logger } from '@sluice/service-runtime';
import { type Actor, type Json, presentKept, type Vault } from '@sluice/vault';
import type { PublicTokenLimits } from './public-tokens/public-token.limits.ts';

export interface Context {
  db: Database;
  vault: Vault;
  callers: Callers;
  caches: Invalidations;
  pepper: KeyObject;
  keyUses: KeyUses;
  publicTokens: PublicTokenLimits;
  /** The origins whose pages may embed fields of this public Application. */
  embeddersOf(applicationId: string): Promise<readonly string[]>;
  log: Logger;
}

export const operation = operationsOf<Context>();

export function actorOf({
  caller,
  traceId,
  hold,
  look,
  requireVersion,
}: Asking & Partial<Pick<Acting, 'requireVersion'>>): Actor {
  return { ...caller, actorType: actorTypeOf(caller), traceId, hold, look, ...(requireVersion && { requireVersion }) };
}

export function replayTokens(answer: unknown, { vault }: Context, asking: Asking): Promise<unknown> {
  return presentKept(vault, actorOf(asking), answer as Json);
}
