import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../json.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { withoutCvc } from './cvc.ts';

/** Copies only what changes. A card with its own mask loses its data, because the mask may show the `cvc`. */
export function answerWithoutCvcs(answer: Json): Json {
  if (Array.isArray(answer)) {
    const items = answer.map(answerWithoutCvcs);
    return items.some((item, i) => item !== answer[i]) ? items : answer;
  }
  if (!isObject(answer)) return answer;
  if (answer.type === 'card' && answer.data !== undefined) {
    const { data, ...others } = answer;
    const isUsual = isDeepStrictEqual(answer.mask, tokenTypeOf('card').defaultMask);
    return isUsual ? { ...others, data: withoutCvc('card', data) } : others;
  }
  const changed: [string, Json][] = [];
  for (const member in answer) {
    const value = answer[member] ?? null;
    const kept = answerWithoutCvcs(value);
    if (kept !== value) changed.push([member, kept]);
  }
  return changed.length === 0 ? answer : Object.fromEntries([...Object.entries(answer), ...changed]);
}
