import type { KeyObject } from 'node:crypto';
import type { Caller, Callers } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { operationsOf } from '@sluice/http-api';
import type { Logger } from '@sluice/service-runtime';
import type { Actor, Vault } from '@sluice/vault';
import type { PublicTokenLimits } from './public-tokens/public-token.limits.ts';

/** The dependencies of handlers, built once in service.ts. */
export interface Context {
  db: Database;
  vault: Vault;
  callers: Callers;
  pepper: KeyObject;
  publicTokens: PublicTokenLimits;
  log: Logger;
}

export const operation = operationsOf<Context>();

export function actorOf(caller: Caller, traceId: string): Actor {
  return { ...caller, actorType: caller.type === 'session' ? 'session' : 'application', traceId };
}
