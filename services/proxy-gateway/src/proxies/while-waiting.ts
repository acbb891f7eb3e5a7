import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '@sluice/problems';
import type { RequestHeader } from '@sluice/vault';
import type { ProxyDefinition } from './definition.ts';

/** A changed configuration matters only to code, and to headers that have its values. */
export function goOnWith(
  found: ProxyDefinition,
  known: ProxyDefinition,
  isBeforeCode: boolean,
): ProxyDefinition | undefined {
  const { configurationCiphertext } = found;
  const isUsed = isBeforeCode || sendsConfiguration(known);
  if (!haveSameTexts(found.requestHeaders, known.requestHeaders)) return undefined;
  const { requestHeaders } = found;
  const expected = { ...known, requestHeaders, ...(!isUsed && { configurationCiphertext }) };
  return isDeepStrictEqual(found, expected) ? found : undefined;
}

/** By their texts, because comparing parsed filters takes a millisecond for each header. */
function haveSameTexts(some: readonly RequestHeader[] = [], others: readonly RequestHeader[] = []): boolean {
  if (some.length !== others.length) return false;
  return some.every(({ name, text }, i) => name === others[i]?.name && text === others[i]?.text);
}

function sendsConfiguration({ requestHeaders = [] }: ProxyDefinition): boolean {
  return requestHeaders.some(({ parts }) => parts.some(({ kind }) => kind === 'configuration'));
}

export function changedWhileWaiting(what: 'owner' | 'caller' | 'application'): ServiceError {
  const detail = `The ${what === 'owner' ? 'Proxy' : 'key'} was changed while the request waited; try again`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
