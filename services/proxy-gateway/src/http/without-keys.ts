import { isWellFormedApiKey } from '@sluice/credentials';
import type { HeaderList } from './message.ts';

/**
 * Without the lines that hold an API key of ours, in name or value, because clients of routes send it in headers that are
 * meant for the destination. Not found are keys that are percent-encoded, encoded in another way, or divided.
 */
export function withoutKeys(headers: readonly string[]): HeaderList {
  const kept: HeaderList = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = [headers[i], headers[i + 1]];
    if (!holdsKey(name) && !hasKey(value)) kept.push(name, value);
  }
  return kept;
}

/** The value of a header that is not passed on with the others; undefined if it holds an API key of ours. */
export function valueWithoutKey(value: string | undefined): string | undefined {
  return value === undefined || hasKey(value) ? undefined : value;
}

const hasKey = (value: string) => holdsKey(value) || holdsKeyOfBasic(value);

/** Looks at every beginning, because one that is no key may overlap one that is. */
function holdsKey(text: string): boolean {
  for (let at = text.indexOf('svc_'); at !== -1; at = text.indexOf('svc_', at + 1)) {
    const [key] = keyLike.exec(text.slice(at, at + longestKey)) ?? [];
    if (key !== undefined && isWellFormedApiKey(key)) return true;
  }
  return false;
}

const keyLike = /^svc_[a-z0-9]{1,16}_[a-z]{3}_[0-9A-Za-z]{49}/;
const longestKey = 'svc__prv_'.length + 16 + 49;

function holdsKeyOfBasic(value: string): boolean {
  for (const [, text = ''] of value.matchAll(basic)) {
    if (holdsKey(Buffer.from(text, 'base64').toString('latin1'))) return true;
  }
  return false;
}

const basic = /basic\s+([A-Za-z0-9+/=_-]+)/gi;
