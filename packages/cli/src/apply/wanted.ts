import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { UsageError } from '../failure.ts';
import { bodies } from '../generated/bodies.gen.ts';
import { readTextFile } from '../read-input.ts';
import { faultsIn } from './faults-in.ts';
import { isObject } from './is-object.ts';
import { hasReference, type References, resolveReferences } from './references.ts';

export const kinds = ['applications', 'proxies', 'reactor_formulas', 'reactors'] as const;
export type Kind = (typeof kinds)[number];
export const nouns = {
  applications: 'Application',
  proxies: 'Proxy',
  reactor_formulas: 'reactor formula',
  reactors: 'reactor',
} as const satisfies Record<Kind, string>;

/** Members that name another thing, by its id, or by its name so that a file works in any Tenant. */
export const links: Readonly<Record<Kind, Readonly<Record<string, Kind>>>> = {
  applications: {},
  proxies: { application: 'applications' },
  reactor_formulas: {},
  reactors: { application: 'applications', formula: 'reactor_formulas' },
};

/** The Proxies that an Application names. In a file they are names; an id is left as it is, because its Proxy may be gone. */
export function proxiesNamedBy(kind: Kind, { proxies }: Members): string[] {
  return kind === 'applications' && Array.isArray(proxies) ? proxies.map((one) => withoutBlanks(String(one))) : [];
}

export type Members = Readonly<Record<string, unknown>> & { readonly name: string };

export type Lists = Readonly<Record<Kind, readonly Members[]>>;

export interface Wanted {
  lists: Lists;
  references: References;
  /** Members whose values come from references, even in part, and are never shown. */
  hidden: ReadonlyMap<Members, ReadonlySet<string>>;
}

/**
 * Reads YAML or JSON and checks it completely, because a fault found only by the service would leave later steps
 * undone.
 * @throws {UsageError} with the positions of the faults, without quoting a value.
 */
export async function readWanted(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[],
): Promise<Wanted> {
  const whole = parseYaml(file, await readTextFile(file));
  assertTree(whole, file);
  const known = kinds.join(', ');
  if (!isObject(whole)) throw new UsageError(`${file} must be an object with these lists: ${known}`);
  const unknown = Object.keys(whole).find((name) => !kinds.some((kind) => kind === name));
  if (unknown) throw new UsageError(`${file} has an unknown field ${unknown}. The known fields are ${known}`);
  const references: References = { files: new Set(), variables: new Set() };
  const resolved = await resolveReferences(whole, { folder: dirname(file), env, allowed, references });
  const hidden = new Map<Members, Set<string>>();
  const listOf = (kind: Kind) => {
    const list = checkList(kind, (resolved as Record<Kind, unknown>)[kind]);
    list.forEach((members, index) => {
      const names = namesOfReferences(kind, index, (whole[kind] as Record<string, unknown>[])[index] ?? {});
      hidden.set(members, names);
    });
    return list;
  };
  const lists = ofEachKind(listOf);
  const faults = kinds.flatMap((kind) => lists[kind].flatMap((item) => faultsInItem(kind, item)));
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { lists, references, hidden };
}

export function ofEachKind<T>(of: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as Record<Kind, T>;
}

/** @throws {UsageError} if a name comes from a reference, because plans and messages show names. */
function namesOfReferences(kind: Kind, index: number, source: Record<string, unknown>): Set<string> {
  const names = Object.keys(source).filter((name) => hasReference(source[name]));
  const named = Object.keys(links[kind]).map((member) => source[member]);
  if (hasReference(source.name) || named.some((link) => isObject(link) && hasReference(link.name)))
    throw new UsageError(`${kind}[${index}]: a name must not come from $env or $file, because the plan shows names`);
  return new Set(names);
}

/** @throws {UsageError} if an alias refers to itself, because the tree would be endless. */
function assertTree(value: unknown, file: string, above: ReadonlySet<unknown> = new Set()): void {
  if (typeof value !== 'object' || value === null) return;
  if (above.has(value)) throw new UsageError(`${file} has an alias that refers to itself`);
  for (const member of Object.values(value)) assertTree(member, file, new Set([...above, value]));
}

function parseYaml(file: string, text: string): unknown {
  // Pretty errors quote the source, which may hold secrets.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const [fault] = document.errors;
  if (fault) {
    const line = text.slice(0, fault.pos[0]).split('\n').length;
    throw new UsageError(`${file} is not valid YAML: line ${line} (${fault.code.toLowerCase().replaceAll('_', ' ')})`);
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new UsageError(`${file} has an alias that refers to nothing, or too many aliases`);
  }
}

function checkList(kind: Kind, value: unknown): Members[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UsageError(`${kind} must be a list`);
  const names = new Set<string>();
  return value.map((item: unknown, index) => {
    if (!isObject(item) || typeof item.name !== 'string' || item.name === '') {
      throw new UsageError(`${kind}[${index}] must have a name`);
    }
    const name = withoutBlanks(item.name);
    if (names.has(name)) throw new UsageError(`Two ${kind} are named ${name}: each name must be unique`);
    names.add(name);
    return { ...item, name };
  });
}

/** As the service stores a name. */
export function withoutBlanks(name: string): string {
  return name.replace(/^\p{Zs}+|\p{Zs}+$/gu, '');
}

export function nameIn(link: unknown): string | undefined {
  const name = isObject(link) ? link.name : undefined;
  return typeof name === 'string' ? withoutBlanks(name) : undefined;
}

function faultsInItem(kind: Kind, item: Members): string[] {
  const isNamed = ([member, value]: [string, unknown]) =>
    links[kind][member] !== undefined && isObject(value) && 'name' in value;
  const named = Object.entries(item).filter(isNamed);
  const isProxies = ([member, value]: [string, unknown]) =>
    kind === 'applications' && member === 'proxies' && value !== null;
  const own = Object.entries(item).filter((entry) => !isNamed(entry) && !isProxies(entry));
  const ofNamed = [
    ...named.flatMap(([member, value]) => faultsIn(naming, value, member)),
    ...Object.entries(item)
      .filter(isProxies)
      .flatMap(([member, value]) => faultsIn(namesOfProxies, value, member)),
  ];
  const faults = [...faultsIn(bodies[kind], Object.fromEntries(own)), ...ofNamed];
  if (kind === 'reactors' && ((item.code ?? null) === null) === ((item.formula ?? null) === null))
    faults.push('code or formula is required, and only one of them is allowed');
  const isEmpty = (list: unknown) => (list ?? null) === null || (Array.isArray(list) && list.length === 0);
  if (kind === 'applications' && isEmpty(item.permissions) && isEmpty(item.rules)) {
    faults.push('permissions or rules is required, and must not be empty');
  }
  return faults.map((fault) => `${nouns[kind]} ${item.name}: ${fault}`);
}

const namesOfProxies = { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1 } };
const naming = { type: 'object', properties: { name: { type: 'string', minLength: 1 } } };
