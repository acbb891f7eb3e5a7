import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../json.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { withoutCvc } from './cvc.ts';

/**
 * An answer as it may be kept for longer than a `cvc`. A card with a mask of its own is kept without data, because such
 * a mask may have put the `cvc` anywhere.
 */
export function withoutCvcs(answer: Json): Json {
  if (Array.isArray(answer)) return answer.map(withoutCvcs);
  if (!isObject(answer)) return answer;
  const { data, ...others } = answer;
  if (answer.type === 'card' && data !== undefined) {
    const isUsual = isDeepStrictEqual(answer.mask, tokenTypeOf('card').defaultMask);
    return isUsual ? { ...others, data: withoutCvc('card', data) } : others;
  }
  // fromEntries keeps a member called __proto__ as a member.
  return Object.fromEntries(Object.entries(answer).map(([member, value]) => [member, withoutCvcs(value)]));
}
