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
import { readExisting } from './read-existing.ts';
import type { Kind } from './wanted.ts';

export const pull: Command = {
  words: ['pull'],
  summary: 'Write Applications and Proxies as a file for apply, with references in place of secrets',
  arguments: [],
  options: {
    file: {
      type: 'string',
      short: 'f',
      value: 'FILE',
      description: 'the YAML file to write; code goes into transforms/ beside it',
    },
    force: { type: 'boolean', description: 'replace files that exist' },
  },
  async run(input, terminal) {
    const file = textOf(input, 'file');
    if (file === undefined) throw new UsageError('Which file? Give -f FILE');
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const existing = await readExisting(sluice, terminal.signal);
    assertNamesIdentify(existing);
    const { text, files, variables } = toFile(existing);
    const all = [...files, [file, text] as const].map(
      ([path, content]) => [path === file ? file : join(dirname(file), path), content] as const,
    );
    for (const [path, content] of all) await writeNew(path, content, input.values.force === true);
    tell(terminal, `Written: ${all.map(([path]) => path).join(', ')}`);
    if (variables.length > 0)
      tell(terminal, `Set before an apply, and allow: ${variables.map((name) => `--env ${name}`).join(' ')}`);
    return undefined;
  },
};

function assertNamesIdentify(existing: Existing): void {
  const twice = (['applications', 'proxies'] as const).flatMap((kind) => {
    const names = new Set(existing[kind].map(({ name }) => name));
    return [...names].flatMap((name) => {
      const ids = existing[kind].filter((one) => one.name === name).map(({ id }) => id);
      return ids.length > 1 ? [`Two or more ${kind} are named ${name} (${ids.join(', ')})`] : [];
    });
  });
  if (twice.length === 0) return;
  throw new RefusedError(`${twice.join('\n')}\nNames identify in a file: rename or delete all but one of each.`);
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

const secretMaps = ['configuration', 'request_headers'];

function toFile({ applications, proxies }: Existing): Pulled {
  const files = new Map<string, string>();
  const variables: string[] = [];
  const names = new Map(applications.map(({ id, name }) => [id, name]));
  const ofProxies = [...proxies].reverse().map((proxy) => {
    const members = pick('proxies', proxy);
    const { application_id } = proxy;
    const applicationName = names.get(String(application_id));
    if (application_id) members.application = applicationName ? { name: applicationName } : { id: application_id };
    for (const kind of ['request', 'response']) {
      const code = (proxy[`${kind}_transform`] as { code?: string } | undefined)?.code;
      if (code !== undefined) members[`${kind}_transform`] = { code: { $file: fileFor(proxy, kind, code, files) } };
    }
    if (mayHoldKey(proxy.destination_url))
      members.destination_url = { $env: variableFor(proxy.name, 'destination_url', variables) };
    for (const member of secretMaps) {
      const map = proxy[member];
      if (typeof map !== 'object' || map === null) continue;
      const references = Object.keys(map).map((key) => [key, { $env: variableFor(proxy.name, key, variables) }]);
      members[member] = Object.fromEntries(references);
    }
    return members;
  });
  const ofApplications = [...applications].reverse().map((application) => pick('applications', application));
  return { text: stringify({ applications: ofApplications, proxies: ofProxies }), files, variables };
}

function pick(kind: Kind, resource: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = Object.keys(bodies[kind].properties ?? {});
  return Object.fromEntries(known.flatMap((name) => (name in resource ? [[name, resource[name]]] : [])));
}

function fileFor(
  { id, name }: { id: string; name: string },
  kind: string,
  code: string,
  files: Map<string, string>,
): string {
  const word =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || id;
  const path = `transforms/${word}.${kind}.js`;
  const free = files.has(path) ? `transforms/${word}-${id.slice(0, 8)}.${kind}.js` : path;
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
