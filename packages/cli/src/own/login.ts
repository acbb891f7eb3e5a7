import { Sluice } from '@sluice/sdk';
import { type Command, type Input, textOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printAnswer, tell } from '../output/print.ts';
import { checkUrl } from '../profile/connect.ts';
import {
  keyTypeOf,
  type Profile,
  profilesFile,
  readProfiles,
  readProfilesOfAnyMode,
  writeProfiles,
} from '../profile/profiles.ts';
import { type Lines, openLines } from '../prompt.ts';
import { readTextFile } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

export const login: Command = {
  words: ['login'],
  summary: 'Store the URL and keys of an installation as a profile that only you can read',
  arguments: [],
  options: {
    url: {
      type: 'string',
      value: 'URL',
      description: 'base URL of the installation; default: you are asked for it',
    },
    'key-file': {
      type: 'string',
      value: 'FILE',
      description:
        'file with one key per line. Default: on a terminal, you are asked for the keys; without a terminal, they are read from standard input',
    },
    'header-prefix': {
      type: 'string',
      value: 'PREFIX',
      description: 'prefix of the header names of the installation, for example SVC in SVC-API-KEY (default: SVC)',
    },
  },
  notes:
    'A profile has at most one key of each type. You cannot give a key as an option, because other users of the machine can see the options of a command.',
  async run(input, terminal) {
    const { env } = terminal;
    const name = profileName(input, env);
    const profiles = await readProfiles(env);
    const before = profiles[name];
    const lines = textOf(input, 'key-file') === undefined ? openLines(terminal) : undefined;
    try {
      // A profile that was asked for keeps its own URL; SLUICE_URL applies only otherwise.
      const known =
        textOf(input, 'profile') === undefined ? env.SLUICE_URL || before?.url : before?.url || env.SLUICE_URL;
      const url = checkUrl(textOf(input, 'url') ?? known ?? (await askUrl(lines)));
      const header_prefix = textOf(input, 'header-prefix') ?? before?.header_prefix ?? 'SVC';
      const keys = await readKeys(input, lines);
      for (const key of keys) await assertAccepted(key, { url, header_prefix }, terminal);
      // Keys are sent only to their profile's URL, so a new URL drops old keys.
      const kept = before?.url === url ? before.keys : {};
      const typed = Object.fromEntries(keys.map((key) => [keyTypeOf(key), key]));
      await writeProfiles(env, { ...profiles, [name]: { url, header_prefix, keys: { ...kept, ...typed } } });
      tell(terminal, `Stored ${Object.keys(typed).join(' and ')} key in the profile ${name} (${profilesFile(env)})`);
    } finally {
      lines?.close();
    }
    return undefined;
  },
};

export const logout: Command = {
  words: ['logout'],
  summary: 'Delete a profile with its keys from this machine; the keys stay valid',
  arguments: [],
  options: {},
  async run(input, terminal) {
    const name = profileName(input, terminal.env);
    const { [name]: gone, ...others } = await readProfilesOfAnyMode(terminal.env);
    if (!gone) throw new UsageError(`There is no profile ${name}`);
    await writeProfiles(terminal.env, others);
    tell(terminal, `Deleted the profile ${name}`);
    return undefined;
  },
};

export const listProfiles: Command = {
  words: ['profiles'],
  summary: 'List the profiles of this machine, without their keys',
  arguments: [],
  options: {},
  async run(input, terminal) {
    const rows = Object.entries(await readProfiles(terminal.env)).map(([name, { url, header_prefix, keys }]) => {
      return { name, url, header_prefix, keys: Object.keys(keys) };
    });
    await printAnswer(terminal, rows, input.values.json === true);
    return undefined;
  },
};

function profileName(input: Input, env: Terminal['env']): string {
  return textOf(input, 'profile') ?? (env.SLUICE_PROFILE || 'default');
}

async function askUrl(lines: Lines | undefined): Promise<string> {
  if (!lines?.isAsked) throw new UsageError('The URL of the installation is missing. Give --url');
  return (await lines.next('URL: ')).trim();
}

async function readKeys(input: Input, lines: Lines | undefined): Promise<string[]> {
  const keys: string[] = [];
  const file = textOf(input, 'key-file');
  const given = file === undefined ? undefined : (await readTextFile(file)).split('\n');
  for (let number = 1; ; number++) {
    const line = given ? given.shift() : await lines?.next(`Key ${number} (empty to end): `, true);
    const key = line?.trim();
    if (!key) break;
    if (!keyTypeOf(key)) throw new UsageError(`Line ${number} is not an API key of an Application`);
    keys.push(key);
  }
  if (keys.length === 0)
    throw new UsageError(
      'The key is missing. Type it on a terminal, or give one key per line in --key-file or on standard input',
    );
  return keys;
}

/** Lists the permissions, which any valid key may. @throws {SluiceError} */
async function assertAccepted(apiKey: string, { url, header_prefix }: Omit<Profile, 'keys'>, { signal }: Terminal) {
  const sluice = new Sluice({ baseUrl: url, apiKey, headerPrefix: header_prefix });
  await sluice.permissions.list({}, { signal }).page();
}
