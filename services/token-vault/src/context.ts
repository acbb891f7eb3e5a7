import type { KeyObject } from 'node:crypto';
import type { Callers } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { type OperationInput, operationsOf } from '@sluice/http-api';
import type { Logger } from '@sluice/service-runtime';
import type { Actor, Vault } from '@sluice/vault';
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

type Asking = Pick<OperationInput<undefined, undefined, undefined>, 'caller' | 'traceId' | 'hold'>;

export function actorOf({ caller, traceId, hold }: Asking): Actor {
  return { ...caller, actorType: caller.type === 'session' ? 'session' : 'application', traceId, hold };
}
