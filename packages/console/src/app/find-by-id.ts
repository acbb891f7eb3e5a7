import type { PermissionName, Sluice } from '@sluice/sdk';
import type { LinkProps } from '@tanstack/react-router';

/** A page about the thing that has this id. */
export interface Place {
  kind: string;
  name: string;
  link: LinkProps;
}

/** Possible meanings of a pasted text. An id may belong to objects of several kinds. */
export type Pasted = { kind: 'secret' } | { kind: 'nothing'; why: string } | { kind: 'id'; isUuid: boolean };

/** Recognizes a pasted key by its form, so that it is never sent and appears in no log. */
export function classify(text: string): Pasted {
  if (/^\w+_\w+_(prv|pub|mgt|ses)_[0-9A-Za-z]{20,}$/.test(text)) return { kind: 'secret' };
  if (text.length < 3 || text.length > 400) return { kind: 'nothing', why: 'An id has 3 to 400 characters.' };
  if (/\s/.test(text)) return { kind: 'nothing', why: 'An id has no blanks. Lists have a search of their own.' };
  return { kind: 'id', isUuid: /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text) };
}

interface Asked {
  sluice: Sluice;
  permissions: readonly PermissionName[];
}

/**
 * Every page about this id that the person may see. Searches lists, because they answer an unknown id without an error.
 */
export async function findPlaces(id: string, isUuid: boolean, { sluice, permissions }: Asked): Promise<Place[]> {
  const may = (permission: PermissionName) => permissions.includes(permission);
  const searches: Promise<Place[]>[] = [];
  if (may('application:read')) searches.push(findToken(id, sluice));
  if (isTraceId.test(id) && may('log:read')) searches.push(findTrace(id, sluice));
  if (isUuid && may('application:read')) searches.push(findApplication(id, sluice));
  if (isUuid && may('proxy:read')) searches.push(findProxy(id, sluice));
  if (isUuid && may('reactor:read')) searches.push(findReactor(id, sluice), findFormula(id, sluice));
  return (await Promise.all(searches)).flat();
}

async function findToken(id: string, sluice: Sluice): Promise<Place[]> {
  const { data } = await sluice.tokens.list({ id: [id] }).page();
  return data.map(({ type }) => ({ kind: 'Token', name: type, link: { to: '/tokens/$id', params: { id } } }));
}

/** The form of every trace id that the service accepts or makes. */
const isTraceId = /^[A-Za-z0-9-]{1,64}$/;

async function findTrace(id: string, sluice: Sluice): Promise<Place[]> {
  const { data } = await sluice.logs.list({ trace_id: id, size: 1 }).page();
  return data.map(({ message }) => ({
    kind: 'Trace',
    name: message,
    link: { to: '/audit', search: { trace_id: id } },
  }));
}

async function findApplication(id: string, sluice: Sluice): Promise<Place[]> {
  const { data } = await sluice.applications.list({ id: [id] }).page();
  return data.map(({ name }) => ({
    kind: 'Application',
    name,
    link: { to: '/applications/$id', params: { id } },
  }));
}

async function findProxy(id: string, sluice: Sluice): Promise<Place[]> {
  const { data } = await sluice.proxies.list({ id: [id] }).page();
  return data.map(({ name }) => ({ kind: 'Proxy', name, link: { to: '/proxies/$id', params: { id } } }));
}

async function findReactor(id: string, sluice: Sluice): Promise<Place[]> {
  const { data } = await sluice.reactors.list({ id: [id] }).page();
  return data.map(({ name }) => ({ kind: 'Reactor', name, link: { to: '/reactors/$id', params: { id } } }));
}

async function findFormula(id: string, sluice: Sluice): Promise<Place[]> {
  const { data } = await sluice.reactorFormulas.list({ id: [id] }).page();
  return data.map(({ name }) => ({ kind: 'Formula', name, link: { to: '/reactors/formulas/$id', params: { id } } }));
}
