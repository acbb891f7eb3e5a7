import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf, UsageError } from '../failure.ts';

type KeyType = 'management' | 'private' | 'public';

export interface Profile {
  url: string;
  header_prefix: string;
  keys: Partial<Record<KeyType, string>>;
}

export type Profiles = Record<string, Profile>;

type Env = Readonly<Record<string, string | undefined>>;

/** XDG base directories. */
export function profilesFile({ XDG_CONFIG_HOME, HOME }: Env): string {
  return join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'sluice', 'profiles.json');
}

/** @throws {UsageError} if the file cannot be read, or others may read it. */
export async function readProfiles(env: Env): Promise<Profiles> {
  const file = profilesFile(env);
  if (await othersMayRead(file)) {
    throw new UsageError(`Other users can read ${file}, which contains keys. Run: chmod 600 ${file}`);
  }
  return readProfilesOfAnyMode(env);
}

async function othersMayRead(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(file).catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new UsageError(`${file} cannot be read`, { cause: error });
  });
  return found !== undefined && (found.mode & 0o077) !== 0;
}

/** For logout, which uses no key, and writes the file for its owner alone. @throws {UsageError} if the file cannot be read. */
export async function readProfilesOfAnyMode(env: Env): Promise<Profiles> {
  const file = profilesFile(env);
  try {
    const profiles: unknown = JSON.parse(await readFile(file, 'utf8'));
    // Without a prototype, so that only names in the file are profiles.
    if (typeof profiles === 'object' && profiles !== null) return Object.assign(Object.create(null), profiles);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    if (!(error instanceof SyntaxError)) throw new UsageError(`${file} cannot be read`, { cause: error });
  }
  // The parser's message would quote the file, and so a key.
  throw new UsageError(`${file} is not what "sluice login" writes. Delete it and log in again.`);
}

/** Replaces the file atomically. Only its owner can read it. */
export async function writeProfiles(env: Env, profiles: Profiles): Promise<void> {
  const file = profilesFile(env);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await chmod(unfinished, 0o600);
  await rename(unfinished, file);
}

export function keyTypeOf(key: string): KeyType | undefined {
  const kind = /^[a-z0-9]+_[a-z0-9]+_(mgt|prv|pub)_[0-9A-Za-z]{49}$/i.exec(key)?.[1];
  return kind === 'mgt' ? 'management' : kind === 'prv' ? 'private' : kind === 'pub' ? 'public' : undefined;
}
