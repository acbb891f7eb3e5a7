import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../json.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { withoutCvc } from './cvc.ts';

/** A card with its own mask loses its data as well, because the mask may show the `cvc`. */
export function answerWithoutCvcs(answer: Json): Json {
  if (Array.isArray(answer)) return answer.map(answerWithoutCvcs);
  if (!isObject(answer)) return answer;
  const { data, ...others } = answer;
  if (answer.type === 'card' && data !== undefined) {
    const isUsual = isDeepStrictEqual(answer.mask, tokenTypeOf('card').defaultMask);
    return isUsual ? { ...others, data: withoutCvc('card', data) } : others;
  }
  // fromEntries keeps a member called __proto__ as a member.
  return Object.fromEntries(Object.entries(answer).map(([member, value]) => [member, answerWithoutCvcs(value)]));
}
