import type { KeyObject } from 'node:crypto';
import type { Callers } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { type Asking, operationsOf } from '@sluice/http-api';
import type { Logger } from '@sluice/service-runtime';
import { type Actor, type Json, presentKept, type Vault } from '@sluice/vault';
import type { PublicTokenLimits } from './public-tokens/public-token.limits.ts';

export interface Context {
  db: Database;
  vault: Vault;
  callers: Callers;
  pepper: KeyObject;
  publicTokens: PublicTokenLimits;
  log: Logger;
}

export const operation = operationsOf<Context>();

export function actorOf({ caller, traceId, hold, checkCallerAgain }: Asking): Actor {
  const actorType = caller.type === 'session' ? 'session' : 'application';
  return { ...caller, actorType, traceId, hold, checkAgain: checkCallerAgain };
}

export function replayTokens(answer: unknown, { vault }: Context, asking: Asking): Promise<unknown> {
  return presentKept(vault, actorOf(asking), answer as Json);
}
