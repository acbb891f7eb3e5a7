import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { UsageError } from '../failure.ts';
import { commands } from '../generated/commands.gen.ts';
import { readTextFile } from '../read-input.ts';
import { type References, resolveReferences } from './references.ts';

export type Kind = 'applications' | 'proxies';
export type Members = Readonly<Record<string, unknown>> & { readonly name: string };

/** What a file says should be there: bodies as create takes them, references resolved. */
export interface Wanted {
  applications: readonly Members[];
  proxies: readonly Members[];
  references: References;
}

/** Reads a file in YAML or JSON. @throws {UsageError} that says where, and repeats no value. */
export async function readWanted(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[],
): Promise<Wanted> {
  const whole = parseYaml(file, await readTextFile(file));
  if (!isObject(whole)) throw new UsageError(`${file} must have the members applications and proxies`);
  const unknown = Object.keys(whole).find((name) => name !== 'applications' && name !== 'proxies');
  if (unknown) throw new UsageError(`${file} has the unknown member ${unknown}; there are applications and proxies`);
  const references: References = { files: new Set(), variables: new Set() };
  const resolved = await resolveReferences(whole, { folder: dirname(file), env, allowed, references });
  const { applications, proxies } = resolved as Record<Kind, unknown>;
  return { applications: checkList('applications', applications), proxies: checkList('proxies', proxies), references };
}

function parseYaml(file: string, text: string): unknown {
  // Messages with an excerpt of the source would show what stands there.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const [fault] = document.errors;
  if (fault) {
    const line = text.slice(0, fault.pos[0]).split('\n').length;
    throw new UsageError(`${file} is not valid YAML: line ${line} (${fault.code.toLowerCase().replaceAll('_', ' ')})`);
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new UsageError(`${file} has an alias that leads nowhere, or too many of them`);
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
    if (names.has(item.name))
      throw new UsageError(`Two ${kind} are named ${item.name}: names identify, so each must be its own`);
    names.add(item.name);
    checkMembers(kind, item);
    return item as Members;
  });
}

/** The service ignores members that it does not know; in a file they are mistakes. */
function checkMembers(kind: Kind, item: Record<string, unknown>): void {
  const known = commands.find(({ method }) => method === `${kind}.create`)?.members ?? [];
  const unknown = Object.keys(item).find((name) => !known.includes(name));
  if (unknown)
    throw new UsageError(`${kind} ${item.name}: there is no member ${unknown}; there are ${known.join(', ')}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
