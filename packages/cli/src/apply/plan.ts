import { isDeepStrictEqual } from 'node:util';
import { RefusedError, UsageError } from '../failure.ts';
import { bodies } from '../generated/bodies.gen.ts';
import { inOrder, type Step } from './in-order.ts';
import { isObject } from './is-object.ts';
import type { Made } from './made.ts';
import { mayHoldKey } from './may-hold-key.ts';
import {
  type Kind,
  kinds,
  type Lists,
  links,
  type Members,
  nameIn,
  nouns,
  proxiesNamedBy,
  type Wanted,
} from './wanted.ts';

export type Existing = Readonly<Record<Kind, readonly (Members & { readonly id: string })[]>>;

/** @throws {UsageError | RefusedError} if no steps lead to the state in the file. */
export function planSteps(wanted: Wanted, existing: Existing, made: Made): Step[] {
  const steps = kinds.flatMap((kind) => wanted.lists[kind].map((body) => stepFor(kind, body, existing, wanted)));
  const backwards = [...kinds].reverse(); // An object can be deleted only after all objects that name it
  return [...inOrder(steps), ...backwards.flatMap((kind) => leftOver(kind, wanted.lists, existing, made))];
}

function stepFor(kind: Kind, wanted: Members, existing: Existing, file: Wanted): Step {
  const { name } = wanted;
  const named = existing[kind].filter((one) => one.name === name);
  const [current] = named;
  if (named.length > 1)
    throw new RefusedError(`${named.length} ${kind} are named ${name}: rename or delete all but one`);
  for (const member of Object.keys(links[kind])) assertKnown(kind, { body: wanted, member }, existing, file.lists);
  assertProxiesKnown(kind, wanted, existing, file.lists);
  if (!current) return { action: 'create', kind, name, wanted, changes: [] };
  if (kind === 'applications') assertFixedMembers(wanted, current);
  const hidden = file.hidden.get(wanted) ?? new Set();
  const sides = [wanted, current].map((members) => comparable(kind, members, existing, wanted));
  const changes = differences(sides[0] ?? {}, sides[1] ?? {}, (member) => shown.has(member) && !hidden.has(member));
  return {
    action: changes.length > 0 ? 'update' : 'keep',
    kind,
    name,
    id: current.id,
    ...versionOf(current),
    wanted,
    changes,
  };
}

function leftOver(kind: Kind, wanted: Lists, existing: Existing, made: Made): Step[] {
  const names = new Set(wanted[kind].map(({ name }) => name));
  const ids = new Set(Object.values(made[kind]));
  return existing[kind]
    .filter(({ id, name }) => ids.has(id) && !names.has(name))
    .map(({ id, name, ...one }) => ({ action: 'delete', kind, name, id, ...versionOf(one), changes: [] }));
}

function versionOf({ created_at, modified_at }: Record<string, unknown>): Pick<Step, 'ifMatch'> {
  const version = modified_at ?? created_at;
  return typeof version === 'string' ? { ifMatch: version } : {};
}

function assertFixedMembers(wanted: Members, current: Members): void {
  const { name, type, expires_at: expiry } = wanted;
  const message = (member: string) =>
    `The ${member} of the Application ${name} cannot be changed; delete the Application first`;
  if (type !== current.type) throw new UsageError(message('type'));
  const isSameExpiry = Date.parse(String(expiry)) === Date.parse(String(current.expires_at));
  if (expiry !== undefined && expiry !== null && !isSameExpiry) throw new UsageError(message('expires_at'));
}

/** @throws {UsageError | RefusedError} if the member names something that it cannot name. */
function assertKnown(
  kind: Kind,
  { body, member }: { body: Members; member: string },
  existing: Existing,
  wanted: Lists,
): void {
  const link = body[member];
  const target = links[kind][member];
  if (!isObject(link) || !target) return;
  const name = nameIn(link);
  const isNamed = (one: Members) => (name === undefined ? one.id === link.id : one.name === name);
  const named = existing[target].filter(isNamed);
  const [found = name === undefined ? undefined : wanted[target].find(isNamed)] = named;
  const what = `The ${nouns[kind]} ${body.name} refers to the ${nouns[target]} ${name ?? link.id}, which`;
  if (named.length > 1) {
    throw new RefusedError(
      `The ${nouns[kind]} ${body.name} refers to the ${nouns[target]} ${name}, but ${named.length} ${nouns[target]}s have this name: rename or delete all but one`,
    );
  }
  if (!found) throw new UsageError(`${what} does not exist${name === undefined ? '' : ' and is not in the file'}`);
  if (found.type === 'management') throw new UsageError(`${what} is of type management; it must be private or public`);
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @throws {UsageError | RefusedError} if an Application names a Proxy that is not there, or that is there twice. */
function assertProxiesKnown(kind: Kind, body: Members, existing: Existing, wanted: Lists): void {
  for (const name of proxiesNamedBy(kind, body)) {
    const named = existing.proxies.filter((one) => one.name === name);
    if (named.length > 1) {
      throw new RefusedError(
        `The Application ${body.name} refers to the Proxy ${name}, but ${named.length} Proxies have this name: rename or delete all but one`,
      );
    }
    if (named.length === 1 || uuid.test(name) || wanted.proxies.some((one) => one.name === name)) continue;
    throw new UsageError(
      `The Application ${body.name} refers to the Proxy ${name}, which does not exist and is not in the file`,
    );
  }
}

const membersOf = (kind: Kind) => Object.keys(bodies[kind].properties ?? {});

/** Members that no change can reach, or that are always the same. */
const fixed: Readonly<Record<Kind, readonly string[]>> = {
  applications: ['name', 'type', 'expires_at'],
  proxies: ['name'],
  reactor_formulas: ['name', 'type'],
  reactors: ['name'],
};

/** PUT keeps these members of a Proxy if they are missing. */
const kept = new Set([
  ...['token_places', 'request_headers', 'head_timeout_s', 'path_name'],
  ...['accept_key_as', 'allowed_methods', 'allowed_paths', 'response_guard'],
]);

/** PUT resets these members if they are missing; other members count only if the file names them. */
const replaced: Readonly<Record<Kind, readonly string[]>> = {
  applications: ['permissions', 'rules'],
  proxies: membersOf('proxies').filter((member) => !kept.has(member)),
  reactor_formulas: membersOf('reactor_formulas'),
  reactors: membersOf('reactors'),
};

/** Normalizes the members that count, so that file and answer can be compared. */
function comparable(kind: Kind, members: Members, existing: Existing, wanted: Members): Record<string, unknown> {
  const counted = new Set(
    [...replaced[kind], ...Object.keys(wanted)].filter((member) => !fixed[kind].includes(member)),
  );
  const normal: Record<string, unknown> = {
    ...members,
    ...normalizers[kind](members, wanted),
    ...(kind === 'applications' && { proxies: idsOfProxies(members, existing) }),
    ...Object.fromEntries(
      Object.entries(links[kind]).map(([member, target]) => [member, idIn(members, member, existing[target])]),
    ),
  };
  return withoutEmpty(Object.fromEntries([...counted].map((member) => [member, normal[member]]))) as Record<
    string,
    unknown
  >;
}

const normalizers: Readonly<Record<Kind, (members: Members, wanted: Members) => Record<string, unknown>>> = {
  applications: ({ permissions, allowed_origins: origins }) => ({
    permissions: sortedOnce(permissions ?? []),
    allowed_origins: asOneText(origins), // none allows nobody
  }),
  proxies: ({ require_auth, token_places: places }) => ({
    require_auth: require_auth ?? true,
    token_places: asOneText(places), // none: nothing is searched
  }),
  reactor_formulas: ({ request_parameters: parameters }) => ({
    request_parameters: ((parameters ?? []) as object[]).map((one) => ({ optional: false, ...one })),
  }),
  reactors: ({ retryable, configuration }, wanted) => ({
    retryable: retryable ?? false,
    configuration: wanted.formula && isObject(configuration) ? asTexts(configuration) : configuration,
  }),
};

/** A formula casts the configuration, so a text in the file may be a number in the answer. */
function asTexts(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** A body has names, an answer has ids. A Proxy that is not made yet counts by its name. */
function idsOfProxies(members: Members, existing: Existing): string | undefined {
  const ids = proxiesNamedBy('applications', members).map(
    (name) => existing.proxies.find((one) => one.name === name)?.id ?? name,
  );
  return ids.length > 0 ? sortedOnce(ids).join(' ') : undefined;
}

/** A body has the id or the name in a member, an answer has the id in another. */
function idIn(members: Members, member: string, existing: Existing[Kind]): unknown {
  const link = members[member];
  const named = nameIn(link);
  if (named) return existing.find(({ name }) => name === named)?.id;
  return isObject(link) ? link.id : members[`${member}_id`];
}

/** For lists of which an empty one, unlike that of another member, is not the same as none. */
function asOneText(list: unknown): string | undefined {
  return Array.isArray(list) ? sortedOnce(list).join(' ') : undefined;
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

const shown = new Set([
  'destination_url',
  'require_auth',
  'permissions',
  'allowed_origins',
  'retryable',
  'token_places',
  'head_timeout_s',
  'path_name',
  'accept_key_as',
  'allowed_methods',
  'allowed_paths',
  'response_guard',
]);

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
    return [to === undefined ? `${name}: removed` : name];
  });
}
