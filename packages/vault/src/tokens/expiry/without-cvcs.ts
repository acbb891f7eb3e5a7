import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../json.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { withoutCvc } from './cvc.ts';

/**
 * An answer with tokens in it, as it may be kept for longer than a `cvc`: without those of its cards. A mask of the
 * caller's own may have put it anywhere: such a card is kept without data.
 */
export function withoutCvcs(answer: Json): Json {
  if (Array.isArray(answer)) return answer.map(withoutCvcs);
  if (!isObject(answer)) return answer;
  const { data, ...others } = answer;
  if (answer.type === 'card' && data !== undefined) {
    const isUsual = isDeepStrictEqual(answer.mask, tokenTypeOf('card').defaultMask);
    return isUsual ? { ...others, data: withoutCvc('card', data) } : others;
  }
  // fromEntries defines members, so that one called __proto__ stays a member.
  return Object.fromEntries(Object.entries(answer).map(([member, value]) => [member, withoutCvcs(value)]));
}
