import { isObject, type Json, type JsonObject } from '../json.ts';
import { tokenTypeNames } from '../types/token-types.ts';
import type { Token } from './token.ts';

export type AnsweredToken = Token & JsonObject;

/**
 * In a response of tokenize only tokens have this form, because it has ids in place of all other texts. Do not search
 * within tokens.
 */
export function isAnsweredToken(answer: Json): answer is AnsweredToken {
  if (!isObject(answer)) return false;
  const { id, type, tenant_id, containers } = answer;
  const isNamed = typeof id === 'string' && typeof tenant_id === 'string' && Array.isArray(containers);
  return isNamed && tokenTypeNames.some((name) => name === type);
}
