import { isDeepStrictEqual } from 'node:util';
import { RefusedError, UsageError } from '../failure.ts';
import { bodies } from '../generated/bodies.gen.ts';
import { isObject } from './is-object.ts';
import type { Made } from './made.ts';
import { mayHoldKey } from './may-hold-key.ts';
import { applicationNameOf, type Kind, type Members, type Wanted } from './wanted.ts';

export interface Step {
  action: 'create' | 'update' | 'keep' | 'delete';
  kind: Kind;
  name: string;
  id?: string;
  wanted?: Members;
  /** Paths of the members that differ, with values only where they are not secret. */
  changes: readonly string[];
}

export type Existing = Readonly<Record<Kind, readonly (Members & { readonly id: string })[]>>;

/** @throws {UsageError | RefusedError} where no steps lead to the state in the file. */
export function planSteps(wanted: Wanted, existing: Existing, made: Made): Step[] {
  const steps = (['applications', 'proxies'] as const).flatMap((kind) =>
    wanted[kind].map((body) => stepFor(kind, body, existing, wanted)),
  );
  return [
    ...steps,
    ...leftOver('proxies', wanted, existing, made),
    ...leftOver('applications', wanted, existing, made),
  ];
}

function stepFor(kind: Kind, wanted: Members, existing: Existing, file: Wanted): Step {
  const { name } = wanted;
  const named = existing[kind].filter((one) => one.name === name);
  const [current] = named;
  if (named.length > 1)
    throw new RefusedError(`${named.length} ${kind} are named ${name}: rename or delete all but one`);
  if (kind === 'proxies') assertApplicationKnown(wanted, existing, file);
  if (!current) return { action: 'create', kind, name, wanted, changes: [] };
  if (kind === 'applications') assertFixedMembers(wanted, current);
  const hidden = file.hidden.get(wanted) ?? new Set();
  const sides = [wanted, current].map((members) => comparable(kind, members, existing, wanted));
  const changes = differences(sides[0] ?? {}, sides[1] ?? {}, (member) => shown.has(member) && !hidden.has(member));
  return { action: changes.length > 0 ? 'update' : 'keep', kind, name, id: current.id, wanted, changes };
}

function leftOver(kind: Kind, wanted: Wanted, existing: Existing, made: Made): Step[] {
  const names = new Set(wanted[kind].map(({ name }) => name));
  const ids = new Set(Object.values(made[kind]));
  return existing[kind]
    .filter(({ id, name }) => ids.has(id) && !names.has(name))
    .map(({ id, name }) => ({ action: 'delete', kind, name, id, changes: [] }));
}

function assertFixedMembers(wanted: Members, current: Members): void {
  const { name, type, expires_at: expiry } = wanted;
  const message = (member: string) => `The ${member} of the Application ${name} cannot be changed; delete it first`;
  if (type !== current.type) throw new UsageError(message('type'));
  const isSameExpiry = Date.parse(String(expiry)) === Date.parse(String(current.expires_at));
  if (expiry !== undefined && expiry !== null && !isSameExpiry) throw new UsageError(message('expires_at'));
}

/** @throws {UsageError | RefusedError} where the Proxy names an Application that it cannot have. */
function assertApplicationKnown(proxy: Members, existing: Existing, file: Wanted): void {
  const { application } = proxy;
  if (!isObject(application)) return;
  const name = applicationNameOf(proxy);
  const isNamed = (one: Members) => (name === undefined ? one.id === application.id : one.name === name);
  const named = existing.applications.filter(isNamed);
  const [found = name === undefined ? undefined : file.applications.find(isNamed)] = named;
  const what = `The Proxy ${proxy.name} names the Application ${name ?? application.id}, which`;
  if (named.length > 1) {
    throw new RefusedError(
      `${named.length} Applications are named ${name}, which the Proxy ${proxy.name} names: rename or delete all but one`,
    );
  }
  if (!found) throw new UsageError(`${what} does not exist${name === undefined ? '' : ' and is not in the file'}`);
  if (found.type === 'management') throw new UsageError(`${what} is of type management; it must be private or public`);
}

/** PUT resets these members where they are missing; others count only where the file names them. */
const replaced: Readonly<Record<Kind, readonly string[]>> = {
  applications: ['permissions', 'rules'],
  proxies: Object.keys(bodies.proxies.properties ?? {}).filter((member) => member !== 'name'),
};

/** Normalizes the members that count, so that file and answer can be compared. */
function comparable(kind: Kind, members: Members, existing: Existing, wanted: Members): Record<string, unknown> {
  const fixed = kind === 'applications' ? ['name', 'type', 'expires_at'] : ['name'];
  const counted = new Set([...replaced[kind], ...Object.keys(wanted).filter((member) => !fixed.includes(member))]);
  const { permissions, allowed_origins, application, application_id, require_auth } = members;
  const named = applicationNameOf(members);
  const normal: Record<string, unknown> = {
    ...members,
    ...(kind === 'applications' && {
      permissions: sortedOnce(permissions ?? []),
      // One text, because an empty list, unlike that of another member, is not the same as none: it allows nobody
      allowed_origins: allowed_origins && sortedOnce(allowed_origins).join(' '),
    }),
    ...(kind === 'proxies' && {
      require_auth: require_auth ?? true,
      application: named
        ? existing.applications.find(({ name }) => name === named)?.id
        : isObject(application)
          ? application.id
          : application_id,
    }),
  };
  return withoutEmpty(Object.fromEntries([...counted].map((member) => [member, normal[member]]))) as Record<
    string,
    unknown
  >;
}

function sortedOnce(list: unknown): string[] {
  return [...new Set(list as string[])].sort();
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutEmpty(member)] as const);
  return Object.fromEntries(
    members.filter(
      ([, member]) =>
        member !== undefined && member !== null && !(typeof member === 'object' && Object.keys(member).length === 0),
    ),
  );
}

const shown = new Set(['destination_url', 'require_auth', 'permissions', 'allowed_origins']);

/** With values only of members that hold no secret and come from no reference. */
function differences(
  wanted: Record<string, unknown>,
  current: Record<string, unknown>,
  isShown: (member: string) => boolean,
): string[] {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(current)])].sort();
  return names.flatMap((name) => {
    const [to, from] = [wanted[name], current[name]];
    if (isDeepStrictEqual(to, from)) return [];
    if (isShown(name) && !mayHoldKey(to) && !mayHoldKey(from))
      return [`${name}: ${JSON.stringify(from) ?? 'none'} -> ${JSON.stringify(to) ?? 'none'}`];
    if (isObject(to) && isObject(from)) return differences(to, from, () => false).map((path) => `${name}.${path}`);
    return [name];
  });
}
