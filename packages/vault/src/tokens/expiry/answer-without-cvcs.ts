import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../json.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { type AnsweredToken, isAnsweredToken } from '../token-form.ts';
import { withoutCvc } from './cvc.ts';

/** Copies only what changes. The data of a token is not searched, because it may look like a card. */
export function answerWithoutCvcs(answer: Json): Json {
  if (Array.isArray(answer)) {
    const items = answer.map(answerWithoutCvcs);
    return items.some((item, i) => item !== answer[i]) ? items : answer;
  }
  if (!isObject(answer)) return answer;
  if (isAnsweredToken(answer)) return tokenWithoutCvc(answer);
  const changed: [string, Json][] = [];
  for (const member in answer) {
    const value = answer[member] ?? null;
    const kept = answerWithoutCvcs(value);
    if (kept !== value) changed.push([member, kept]);
  }
  return changed.length === 0 ? answer : Object.fromEntries([...Object.entries(answer), ...changed]);
}

/** A card with its own mask loses its data, because the mask may show the `cvc`. */
function tokenWithoutCvc(token: AnsweredToken): Json {
  const { data, ...others } = token;
  if (token.type !== 'card' || data === undefined) return token;
  const isUsual = isDeepStrictEqual(token.mask, tokenTypeOf('card').defaultMask);
  return isUsual ? { ...others, data: withoutCvc('card', data) } : others;
}
