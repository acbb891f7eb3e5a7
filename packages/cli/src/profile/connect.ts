import { Sluice } from '@sluice/sdk';
import { UsageError } from '../failure.ts';
import type { Terminal } from '../terminal.ts';
import { type Profile, readProfiles } from './profiles.ts';

export interface Need {
  keyTypes?: readonly string[];
  profile?: string | undefined;
  fetch?: typeof fetch;
}

/** The preferred type comes first. */
const preferred = ['private', 'public', 'management'] as const;

/**
 * With `--profile` that profile's key; else SLUICE_API_KEY; else the key of SLUICE_PROFILE, or of `default`.
 * @throws {UsageError}
 */
export async function connect({ env }: Terminal, need: Need): Promise<Sluice> {
  const { SLUICE_URL: url, SLUICE_API_KEY: apiKey } = env;
  const isOfEnvironment = apiKey && need.profile === undefined;
  if (isOfEnvironment) {
    if (!url) throw new UsageError('SLUICE_API_KEY is set without SLUICE_URL; set both, or none to use a profile.');
    return client({ url, apiKey, headerPrefix: env.SLUICE_HEADER_PREFIX || 'SVC' }, need.fetch);
  }
  const { name, profile } = await findProfile(env, need.profile);
  // SLUICE_URL belongs to SLUICE_API_KEY, so it must not redirect the keys of a profile.
  if (url && !apiKey && checkUrl(url) !== profile.url) {
    throw new UsageError(
      `SLUICE_URL is not the URL of the profile ${name}. The keys of the profile are sent only to the URL of the profile. Set SLUICE_API_KEY too, or run sluice login for the new URL.`,
    );
  }
  const types = need.keyTypes ?? preferred;
  const type = preferred.find((one) => types.includes(one) && profile.keys[one]);
  const key = type && profile.keys[type];
  if (!key)
    throw new UsageError(
      `This command needs a ${types.join(' or ')} key. The profile ${name} has no such key. Run: sluice login`,
    );
  return client({ url: profile.url, apiKey: key, headerPrefix: profile.header_prefix }, need.fetch);
}

/** A client with each key of one profile, for commands that make sessions. */
export interface ProfileClients {
  url: string;
  headerPrefix: string;
  management: Sluice;
  private: Sluice;
  public: Sluice;
}

/**
 * Always takes a profile, because SLUICE_API_KEY is one key.
 * @throws {UsageError} if a key is missing, or if the environment has a key and no profile was asked for.
 */
export async function connectWithAllKeys({ env }: Terminal, given: string | undefined): Promise<ProfileClients> {
  if (env.SLUICE_API_KEY && given === undefined) {
    throw new UsageError(
      'This command needs a public, a private and a management key. SLUICE_API_KEY is only one key. Name a profile with --profile.',
    );
  }
  const { name, profile } = await findProfile(env, given);
  const { url, header_prefix: headerPrefix, keys } = profile;
  const missing = preferred.filter((type) => !keys[type]);
  if (missing.length > 0) {
    throw new UsageError(
      `This command needs a public, a private and a management key. The profile ${name} has no ${missing.join(' and no ')} key. Run: sluice login`,
    );
  }
  const clientWith = (apiKey = '') => client({ url, apiKey, headerPrefix }, undefined);
  return {
    url: checkUrl(url),
    headerPrefix,
    management: clientWith(keys.management),
    private: clientWith(keys.private),
    public: clientWith(keys.public),
  };
}

async function findProfile(
  env: Terminal['env'],
  given: string | undefined,
): Promise<{ name: string; profile: Profile }> {
  const name = given ?? (env.SLUICE_PROFILE || 'default');
  const profile = (await readProfiles(env))[name];
  if (!profile)
    throw new UsageError(
      `There is no profile ${name}. Run: sluice login${name === 'default' ? '' : ` --profile ${name}`}`,
    );
  return { name, profile };
}

function client(service: { url: string; apiKey: string; headerPrefix: string }, fetch: Need['fetch']): Sluice {
  const { url, ...settings } = service;
  try {
    return new Sluice({ baseUrl: checkUrl(url), ...settings, ...(fetch && { fetch }) });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** @throws {UsageError} if keys would be sent unencrypted over a network. @returns the URL in normal form. */
export function checkUrl(text: string): string {
  if (!URL.canParse(text)) throw new UsageError('The URL must be like https://sluice.example.com');
  const { protocol, hostname, origin, pathname, username, password, search, hash } = new URL(text);
  const isLocal = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    throw new UsageError(
      'The URL must begin with https:, because plain http does not protect keys and values. Only localhost may use http.',
    );
  }
  if (username || password || search || hash) throw new UsageError('The URL must have no user, query or fragment');
  return origin + pathname.replace(/\/+$/, '');
}
