import type { PermissionName, SearchResult, Sluice } from '@sluice/sdk';
import type { LinkProps } from '@tanstack/react-router';
import { linkOf } from './thing-link.tsx';

/** The groups of the results, in their order. */
export const groups = [
  'Pages',
  'Applications',
  'Proxies',
  'Reactors',
  'Formulas',
  'Members',
  'Tokens',
  'Traces',
] as const;

/** Something that was found, and its page. */
export interface Place {
  group: (typeof groups)[number];
  name: string;
  /** Which one it is, for example its id. */
  about?: string;
  link: LinkProps;
}

/**
 * Why a text must not leave the browser, where it would be part of an address and could get into a log. undefined for every other text.
 */
export function refusalOf(text: string): string | undefined {
  if (keyPattern.test(text))
    return 'This looks like a secret key. It was not sent, because the search cannot find a key by its text.';
  if (linkPattern.test(text)) return 'This looks like a link that signs in. It was not sent.';
  if (isCardNumber(text)) return 'This looks like a card number. It was not sent, because values are never searched.';
  return undefined;
}

/** Also a part of a key, and one in a line of a shell: `svc_live_prv_…`. */
const keyPattern = /_(prv|pub|mgt|ses)_[0-9A-Za-z]{6}/;
const linkPattern = /\/(sign-in|invitations?)\S*#\S/;

/** 12 to 19 digits that pass the Luhn check. No id that the service makes does. */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  if (!/^\d{12,19}$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

interface Asked {
  sluice: Sluice;
  permissions: readonly PermissionName[];
  signal: AbortSignal;
}

/** From so many characters on the service is asked. */
export const shortest = 3;

/** @returns everything that the person may see and whose name, e-mail address or id fits. */
export async function findPlaces(text: string, { sluice, permissions, signal }: Asked): Promise<Place[]> {
  const may = (permission: PermissionName) => permissions.includes(permission);
  const searches = [findNamed(text, sluice, signal)];
  if (isTokenId.test(text) && may('application:read')) searches.push(findToken(text, sluice, signal));
  if (isTraceId.test(text) && may('log:read')) searches.push(findTrace(text, sluice, signal));
  return (await Promise.all(searches)).flat();
}

const groupOf = {
  application: 'Applications',
  proxy: 'Proxies',
  reactor: 'Reactors',
  reactor_formula: 'Formulas',
  member: 'Members',
} as const satisfies Record<SearchResult['kind'], Place['group']>;

/** The longest text that the search takes. */
const longestName = 200;

async function findNamed(text: string, sluice: Sluice, signal: AbortSignal): Promise<Place[]> {
  if (text.length > longestName) return [];
  const { data } = await sluice.search({ q: text }, { signal });
  return data.map(({ kind, id, name }) => ({
    group: groupOf[kind],
    name: name ?? id,
    ...(name !== undefined && { about: id }),
    link: linkOf(kind, id) ?? { to: '/settings/people' },
  }));
}

const isTokenId = /^\S{3,400}$/;

/** Of a list, which answers an unknown id without an error. */
async function findToken(id: string, sluice: Sluice, signal: AbortSignal): Promise<Place[]> {
  const { data } = await sluice.tokens.list({ id: [id] }, { signal }).page();
  return data.map(({ type }) => ({
    group: 'Tokens',
    name: id,
    about: type,
    link: { to: '/tokens/$id', params: { id } },
  }));
}

/** The form of every trace id that the service accepts or makes. */
const isTraceId = /^[A-Za-z0-9-]{1,64}$/;

async function findTrace(id: string, sluice: Sluice, signal: AbortSignal): Promise<Place[]> {
  const { data } = await sluice.logs.list({ trace_id: id, size: 1 }, { signal }).page();
  return data.map(({ message }) => ({
    group: 'Traces',
    name: id,
    about: message,
    link: { to: '/audit', search: { trace_id: id } },
  }));
}
