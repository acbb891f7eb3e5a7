import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { UsageError } from '../failure.ts';
import { readTextFile } from '../read-input.ts';

export interface References {
  files: Set<string>;
  variables: Set<string>;
}

interface Scope {
  /** Files that a file refers to must be in its folder. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Named by `--env`. */
  allowed: readonly string[];
  references: References;
}

/** Finds `$file` and `$env` also among other members, which are then a fault. */
function referenceOf(value: object): [kind: string, target: unknown] | undefined {
  return Object.entries(value).find(([name]) => name === '$file' || name === '$env');
}

/** The value must be a tree. */
export function hasReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return referenceOf(value) !== undefined || Object.values(value).some(hasReference);
}

/** Replaces `{ $file: … }` and `{ $env: … }` in a tree by their texts, or by the value of the `type`. @throws {UsageError} */
export async function resolveReferences(value: unknown, scope: Scope): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolveReferences(item, scope)));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const reference = referenceOf(value);
  if (!reference) {
    const resolved = members.map(async ([name, member]) => [name, await resolveReferences(member, scope)] as const);
    return Object.fromEntries(await Promise.all(resolved));
  }
  const [kind, target] = reference;
  const { type, ...others } = value as { type?: unknown };
  const isTyped = kind === '$env' && Object.hasOwn(value, 'type');
  if (Object.keys(isTyped ? others : value).length > 1 || typeof target !== 'string')
    throw new UsageError(`A reference must be { ${kind}: text } without other fields`);
  if (kind === '$file') return readReferredFile(target, scope);
  const text = readVariable(target, scope);
  return isTyped ? typed(text, { type, name: target }) : text;
}

/**
 * Casts as the service casts what a formula declares. The message does not quote the text, because it may be a secret.
 */
function typed(text: string, { type, name }: { type: unknown; name: string }): string | number | boolean {
  if (type === 'string') return text;
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (type === 'number' || type === 'boolean') throw new UsageError(`$env: the value of ${name} is not a ${type}`);
  throw new UsageError(`$env: the type of ${name} must be string, number or boolean`);
}

async function readReferredFile(path: string, { folder, references }: Scope): Promise<string> {
  const message = `$file: ${path} must be a file below ${folder}`;
  if (isAbsolute(path)) throw new UsageError(message);
  const [root, target] = await Promise.all([realpath(folder), realpath(join(folder, path))]).catch(() => {
    throw new UsageError(`$file: ${path} cannot be read`);
  });
  const inside = relative(root, target);
  // On Windows the separator is a backslash.
  if (inside === '' || inside.split(/[\\/]/)[0] === '..' || isAbsolute(inside)) throw new UsageError(message);
  references.files.add(path);
  return readTextFile(target);
}

function readVariable(name: string, { env, allowed, references }: Scope): string {
  if (/^SLUICE_/i.test(name))
    throw new UsageError(`$env: ${name} is a setting of the command line and cannot be used in a resource`);
  if (!allowed.includes(name)) throw new UsageError(`$env: ${name} is not allowed; allow it with --env ${name}`);
  const value = env[name];
  if (value === undefined) throw new UsageError(`$env: ${name} is not set`);
  references.variables.add(name);
  return value;
}
