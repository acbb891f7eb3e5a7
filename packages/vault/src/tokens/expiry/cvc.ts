import { isObject, type Json } from '../../json.ts';
import type { TokenTypeName } from '../../types/token-types.ts';
import type { TokenRow } from '../token.ts';

/** How long a card's `cvc` is kept after it was stored. */
export const cvcLifetimeMs = 60 * 60 * 1000;

/** Whether the data of a token has a `cvc` that must go. */
export function hasCvc(type: TokenTypeName, data: Json): boolean {
  return type === 'card' && isObject(data) && typeof data.cvc === 'string';
}

/** What may stay of a token's data: everything but a card's `cvc`. */
export function withoutCvc(type: TokenTypeName, data: Json): Json {
  if (!isObject(data) || !hasCvc(type, data)) return data;
  return Object.fromEntries(Object.entries(data).filter(([member]) => member !== 'cvc'));
}

/** Whether the row still has a `cvc` that may be shown, whether or not the worker has been there. */
export function isCvcKept(row: Pick<TokenRow, 'cvc_due_at'>, now: Date): boolean {
  return row.cvc_due_at !== null && Date.parse(row.cvc_due_at) > now.getTime();
}
