import { isObject, type Json } from '../../json.ts';
import type { TokenTypeName } from '../../types/token-types.ts';
import type { TokenRow } from '../token.ts';

export const cvcLifetimeMs = 60 * 60 * 1000;

export function hasCvc(type: TokenTypeName, data: Json): boolean {
  return type === 'card' && isObject(data) && typeof data.cvc === 'string';
}

export function withoutCvc(type: TokenTypeName, data: Json): Json {
  if (!isObject(data) || !hasCvc(type, data)) return data;
  return Object.fromEntries(Object.entries(data).filter(([member]) => member !== 'cvc'));
}

/** False from its due moment on, even if the worker has not removed it yet. */
export function isCvcKept(row: Pick<TokenRow, 'cvc_due_at'>, now: Date): boolean {
  return row.cvc_due_at !== null && Date.parse(row.cvc_due_at) > now.getTime();
}
