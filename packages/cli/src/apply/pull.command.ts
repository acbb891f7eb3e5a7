import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { type Command, textOf } from '../command.ts';
import { codeOf, RefusedError, UsageError } from '../failure.ts';
import { bodies } from '../generated/bodies.gen.ts';
import { tell } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import { mayHoldKey } from './may-hold-key.ts';
import type { Existing } from './plan.ts';
import { isOfReactors, readExisting } from './read-existing.ts';
import { type Kind, kinds, links, ofEachKind } from './wanted.ts';

export const pull: Command = {
  words: ['pull'],
  summary:
    'Write a file for "sluice apply" that describes the Applications, Proxies and reactors, with references in place of secrets',
  arguments: [],
  options: {
    file: {
      type: 'string',
      short: 'f',
      value: 'FILE',
      description: 'YAML file to write; code is written to folders beside it',
    },
    force: { type: 'boolean', description: 'replace existing files' },
  },
  async run(input, terminal) {
    const file = textOf(input, 'file');
    if (file === undefined) throw new UsageError('The file is missing. Give -f FILE');
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const { permissions } = await sluice.applications.getByKey({ signal: terminal.signal });
    const read = kinds.filter((kind) => !isOfReactors(kind) || permissions.includes('reactor:read'));
    const existing = await readExisting(sluice, read, terminal.signal);
    assertNamesIdentify(existing);
    const { text, files, variables } = toFile(existing, read);
    const all = [...files, [file, text] as const].map(
      ([path, content]) => [path === file ? file : join(dirname(file), path), content] as const,
    );
    for (const [path, content] of all) await writeNew(path, content, input.values.force === true);
    tell(terminal, `Written: ${all.map(([path]) => path).join(', ')}`);
    if (variables.length > 0)
      tell(
        terminal,
        `Before an apply, set these variables, and allow them: ${variables.map((name) => `--env ${name}`).join(' ')}`,
      );
    if (read.length < kinds.length) tell(terminal, 'Reactors were left out, because this key lacks reactor:read.');
    return undefined;
  },
};

function assertNamesIdentify(existing: Existing): void {
  const twice = kinds.flatMap((kind) => {
    const names = new Set(existing[kind].map(({ name }) => name));
    return [...names].flatMap((name) => {
      const ids = existing[kind].filter((one) => one.name === name).map(({ id }) => id);
      return ids.length > 1 ? [`Two or more ${kind} are named ${name} (${ids.join(', ')})`] : [];
    });
  });
  if (twice.length === 0) return;
  throw new RefusedError(
    `${twice.join('\n')}\nIn a file, each name must be unique: rename or delete all but one of each.`,
  );
}

async function writeNew(path: string, text: string, isForced: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { flag: isForced ? 'w' : 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new UsageError(`${path} exists; --force replaces it`);
    throw new UsageError(`${path} cannot be written (${codeOf(error)})`);
  }
}

interface Pulled {
  text: string;
  files: Map<string, string>;
  variables: string[];
}

/** Members whose values may be secrets. */
const secretMaps: Readonly<Record<Kind, readonly string[]>> = {
  applications: [],
  proxies: ['configuration', 'request_headers'],
  reactor_formulas: [],
  reactors: ['configuration'],
};

function toFile(existing: Existing, read: readonly Kind[]): Pulled {
  const files = new Map<string, string>();
  const variables: string[] = [];
  const names = ofEachKind((kind) => new Map(existing[kind].map(({ id, name }) => [id, name])));
  const refer = (name: string, key: string) => ({ $env: variableFor(name, key, variables) });
  const membersOf = (kind: Kind, resource: Existing[Kind][number]) => {
    const members = pick(kind, resource);
    for (const [member, target] of Object.entries(links[kind])) {
      const id = resource[`${member}_id`];
      const name = names[target].get(String(id));
      if (id) members[member] = name ? { name } : { id };
    }
    if (Array.isArray(members.proxies)) members.proxies = members.proxies.map((id) => names.proxies.get(id) ?? id);
    for (const [member, value] of Object.entries(members)) {
      const code = codeIn(member, value);
      if (code === undefined) continue;
      const $file = fileFor(resource, { kind, member, code }, files);
      members[member] = member === 'code' ? { $file } : { code: { $file } };
    }
    if (mayHoldKey(resource.destination_url)) members.destination_url = refer(resource.name, 'destination_url');
    for (const member of secretMaps[kind]) {
      const map = resource[member];
      if (typeof map !== 'object' || map === null) continue;
      const references = Object.entries(map).map(([key, value]) => {
        return [key, { ...refer(resource.name, key), ...(typeof value !== 'string' && { type: typeof value }) }];
      });
      members[member] = Object.fromEntries(references);
    }
    return members;
  };
  // Newest first in an answer, so that the file has the oldest first
  const lists = read.map((kind) => [kind, [...existing[kind]].reverse().map((one) => membersOf(kind, one))]);
  return { text: stringify(Object.fromEntries(lists)), files, variables };
}

/** The code of a reactor or formula, or of a transform. */
function codeIn(member: string, value: unknown): string | undefined {
  if (member !== 'code' && !/_transform$/.test(member)) return undefined;
  const code = member === 'code' ? value : (value as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

function pick(kind: Kind, resource: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = Object.keys(bodies[kind].properties ?? {});
  return Object.fromEntries(known.flatMap((name) => (name in resource ? [[name, resource[name]]] : [])));
}

function fileFor(
  { id, name }: { id: string; name: string },
  { kind, member, code }: { kind: Kind; member: string; code: string },
  files: Map<string, string>,
): string {
  const word =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || id;
  const [folder, end] =
    kind === 'proxies' ? ['transforms', `.${member.replace('_transform', '')}.js`] : [kind.replace('_', '-'), '.js'];
  const path = `${folder}/${word}${end}`;
  const free = files.has(path) ? `${folder}/${word}-${id.slice(0, 8)}${end}` : path;
  files.set(free, code);
  return free;
}

function variableFor(proxy: string, key: string, taken: string[]): string {
  const word = `${proxy}_${key}`
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d|SLUICE_)/, '_');
  const base = word === '_' ? 'VALUE' : word; // $_ is the shell's own
  let name = base;
  for (let number = 2; taken.includes(name); number++) name = `${base}_${number}`;
  taken.push(name);
  return name;
}
