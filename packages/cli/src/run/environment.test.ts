import { readFile } from 'node:fs/promises';
import { UsageError } from '../failure.ts';
import type { RouteProxy } from '../routes/find-routes.ts';
import { clientFor, clientHosts } from './clients.ts';
import { planEnvironment, readNamedVariables } from './environment.ts';

const url = 'https://sluice.example.com';
const openai = { destination_url: 'https://api.openai.com', path_name: 'openai', accept_key_as: ['bearer'] };
const anthropic = {
  destination_url: 'https://api.anthropic.com',
  path_name: 'anthropic',
  accept_key_as: ['x-api-key'],
};
const gitHub = { destination_url: 'https://github.com', path_name: 'github-git', accept_key_as: ['basic'] };
const other = { destination_url: 'https://example.com/v1', path_name: 'other', accept_key_as: ['bearer'] };

function proxyOf(members: object): RouteProxy {
  return {
    ...{ id: 'p-1', tenant_id: 't', name: 'P', key: 'k', destination_url: '', require_auth: true, path_name: '' },
    ...{ token_places: [], ...members },
  };
}

function plan(proxies: object[], env: Record<string, string> = {}, named: string[] = []) {
  const routes = proxies.map(proxyOf);
  const names = routes.map(({ path_name }) => path_name);
  const planned = planEnvironment({ url, proxies: routes, named: readNamedVariables(named, names), env });
  return { notes: planned.notes, env: planned.withKey('KEY') };
}

test.each<[string, object, Record<string, string>]>([
  ['OpenAI', openai, { OPENAI_BASE_URL: `${url}/routes/openai/v1`, OPENAI_API_KEY: 'KEY' }],
  [
    'OpenAI, whose destination ends with the path that clients expect',
    { ...openai, destination_url: 'https://api.openai.com/v1/' },
    { OPENAI_BASE_URL: `${url}/routes/openai`, OPENAI_API_KEY: 'KEY' },
  ],
  [
    'OpenAI by another name',
    { ...openai, path_name: 'gpt' },
    {
      ...{ GPT_BASE_URL: `${url}/routes/gpt/v1`, GPT_API_KEY: 'KEY' },
      ...{ OPENAI_BASE_URL: `${url}/routes/gpt/v1`, OPENAI_API_KEY: 'KEY' },
    },
  ],
  ['Anthropic', anthropic, { ANTHROPIC_BASE_URL: `${url}/routes/anthropic`, ANTHROPIC_API_KEY: 'KEY' }],
  [
    'Anthropic by Bearer, which is another variable, and never both',
    { ...anthropic, accept_key_as: ['bearer'] },
    { ANTHROPIC_BASE_URL: `${url}/routes/anthropic`, ANTHROPIC_AUTH_TOKEN: 'KEY' },
  ],
  ['any other', other, { OTHER_BASE_URL: `${url}/routes/other`, OTHER_API_KEY: 'KEY' }],
  [
    'a name that begins with a digit',
    { ...other, path_name: '3ds-a' },
    { ROUTE_3DS_A_BASE_URL: `${url}/routes/3ds-a`, ROUTE_3DS_A_API_KEY: 'KEY' },
  ],
  [
    'a name that would be one of ours',
    { ...other, path_name: 'sluice' },
    { ROUTE_SLUICE_BASE_URL: `${url}/routes/sluice`, ROUTE_SLUICE_API_KEY: 'KEY' },
  ],
])('the variables of a route to %s', (_name, proxy, expected) => {
  expect(plan([proxy])).toEqual({ notes: [], env: expected });
});

test('the environment stays, but for our own variables', () => {
  const env = { PATH: '/bin', SLUICE_API_KEY: 'svc', SLUICE_URL: 'u', SLUICE_: '', NOT_SLUICE_URL: 'n' };
  expect(plan([other], env).env).toEqual({ PATH: '/bin', NOT_SLUICE_URL: 'n', ...plan([other]).env });
});

test('--env sets further variables, and goes before all others', () => {
  const { env } = plan([openai, other], {}, [
    'A=other:url',
    'B=openai:key',
    'OPENAI_BASE_URL=other:url',
    'C=openai:url',
  ]);
  const [own, openAi] = [`${url}/routes/other`, `${url}/routes/openai/v1`];
  expect(env).toMatchObject({ A: own, B: 'KEY', C: openAi, OPENAI_BASE_URL: own, OPENAI_API_KEY: 'KEY' });
});

test('git is led to the route by its settings, which contain no key, behind those that are there', () => {
  const there = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'A' };
  const { env } = plan([{ ...gitHub, destination_url: 'https://github.com/acme' }], there);
  const pairs = Array.from({ length: Number(env.GIT_CONFIG_COUNT) }, (_, index) => [
    env[`GIT_CONFIG_KEY_${index}`],
    env[`GIT_CONFIG_VALUE_${index}`],
  ]);
  const insteadOf = `url.${url}/routes/github-git/.insteadOf`;
  expect(pairs).toEqual([
    ['user.name', 'A'],
    [insteadOf, 'https://github.com/acme/'],
    [insteadOf, 'git@github.com:acme/'],
    [insteadOf, 'ssh://git@github.com/acme/'],
    [`credential.${url}.helper`, ''],
    [`credential.${url}.helper`, expect.stringContaining('password=$GITHUB_GIT_API_KEY')],
  ]);
  expect(JSON.stringify(pairs)).not.toContain('KEY"');
  expect(() => plan([gitHub], { GIT_CONFIG_COUNT: 'many' })).toThrow(UsageError);
});

test.each<[string, object[], Record<string, string>, string[]]>([
  [
    'a credential that stays in the environment',
    [other],
    { GH_TOKEN: 'x', OPENAI_API_KEY: 'y' },
    ['OPENAI_API_KEY, GH_TOKEN'],
  ],
  ['none that the route replaces', [openai], { OPENAI_API_KEY: 'y' }, []],
  [
    'one that clients would take in its place',
    [anthropic],
    { ANTHROPIC_AUTH_TOKEN: 'y' },
    ['does not get your variable ANTHROPIC_AUTH_TOKEN'],
  ],
  ['tokens in prompts', [{ ...openai, token_places: ['body'] }], {}, ['token_places']],
  ['tokens in prompts, by default', [{ ...anthropic, token_places: undefined }], {}, ['token_places']],
  [
    'a client that the environment cannot bind',
    [{ ...other, destination_url: 'https://api.github.com' }],
    {},
    ['gh takes no base URL'],
  ],
  [
    'two routes to one destination',
    [
      { ...openai, path_name: 'a' },
      { ...openai, path_name: 'b' },
    ],
    {},
    [
      'OPENAI_BASE_URL, OPENAI_API_KEY are not set, because several routes lead to api.openai.com; choose one, for example with --env OPENAI_BASE_URL=a:url --env OPENAI_API_KEY=a:key',
    ],
  ],
])('notes: %s', (_name, proxies, env, expected) => {
  const { notes } = plan(proxies, env);
  expect(notes).toEqual(expected.map((text) => expect.stringContaining(text)));
});

/** The variables that clients of Anthropic read. */
function anthropicIn(env: Record<string, string | undefined>) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('ANTHROPIC_')));
}

const byKey = { ...anthropic, path_name: 'a' };
const byBearer = { ...anthropic, path_name: 'b', accept_key_as: ['bearer'] };
const route = (name: string) => `${url}/routes/${name}`;

test.each<[string, object[], string[], Record<string, string>]>([
  ['two routes: nothing, because a key without a base URL would be sent to Anthropic', [byKey, byBearer], [], {}],
  [
    'two routes, of which one is chosen',
    [byKey, byBearer],
    ['ANTHROPIC_BASE_URL=b:url', 'ANTHROPIC_AUTH_TOKEN=b:key'],
    { ANTHROPIC_BASE_URL: route('b'), ANTHROPIC_AUTH_TOKEN: 'KEY' },
  ],
  [
    'two routes, of which one has the name of the clients',
    [anthropic, byBearer],
    [],
    { ANTHROPIC_BASE_URL: route('anthropic'), ANTHROPIC_API_KEY: 'KEY' },
  ],
  [
    'two routes, of which the one for Bearer has this name',
    [{ ...byBearer, path_name: 'anthropic' }, byKey],
    [],
    { ANTHROPIC_BASE_URL: route('anthropic'), ANTHROPIC_AUTH_TOKEN: 'KEY' },
  ],
  [
    'a route elsewhere that has this name',
    [{ ...other, path_name: 'anthropic' }, byBearer],
    [],
    { ANTHROPIC_BASE_URL: route('anthropic'), ANTHROPIC_API_KEY: 'KEY' },
  ],
])(
  'clients of one destination get the base URL and the key of one route, or nothing: %s',
  (_name, proxies, named, expected) => {
    const yours = { ANTHROPIC_BASE_URL: 'yours', ANTHROPIC_API_KEY: 'yours', ANTHROPIC_AUTH_TOKEN: 'yours' };
    expect(anthropicIn(plan(proxies, {}, named).env)).toEqual(expected);
    expect(anthropicIn(plan(proxies, yours, named).env)).toEqual(expected);
  },
);

test('a choice by --env is not asked for again', () => {
  const words = ['ANTHROPIC_BASE_URL=b:url', 'ANTHROPIC_AUTH_TOKEN=b:key'];
  expect(plan([byKey, byBearer], {}, words).notes).toEqual([]);
  expect(plan([byKey, byBearer], {}, words.slice(1)).notes).toEqual([expect.stringContaining('are not set')]);
});

test('a credential that clients would take in place of ours is removed', () => {
  expect(plan([anthropic], { ANTHROPIC_AUTH_TOKEN: 'y' }).env).toEqual(plan([anthropic]).env);
});

test.each<[string, object[], string[], string[]]>([
  [
    'a route that accepts the key nowhere else',
    [{ ...other, accept_key_as: undefined }],
    [],
    ['accept_key_as', 'route other'],
  ],
  [
    'one that accepts it where the clients do not send it',
    [{ ...openai, accept_key_as: ['basic'] }],
    [],
    ['accept_key_as', '"bearer"', 'p-1'],
  ],
  ['one to Git without Basic', [{ ...gitHub, accept_key_as: ['bearer'] }], [], ['accept_key_as', '"basic"']],
  [
    'two names that give one',
    [
      { ...other, path_name: '1x' },
      { ...other, path_name: 'route-1x' },
    ],
    [],
    ['1x and route-1x', 'ROUTE_1X_BASE_URL'],
  ],
  ['--env that is no assignment', [other], ['A'], ['NAME=route:url']],
  ['--env with an unknown part', [other], ['A=other:token'], ['NAME=route:url']],
  ['--env of ours', [other], ['SLUICE_URL=other:url'], ['SLUICE_']],
  ['--env with a route that is not named', [other], ['A=openai:key'], ['--routes does not have it']],
])('a usage error: %s', (_name, proxies, named, messages) => {
  for (const message of messages) {
    expect(() => plan(proxies, {}, named)).toThrow(message);
    expect(() => plan(proxies, {}, named)).toThrow(UsageError);
  }
});

test.each(['run-without-credentials', 'call-with-stock-clients'])(
  'the table of infra/guides/%s.md agrees',
  async (page) => {
    const text = await readFile(new URL(`../../../../infra/guides/${page}.md`, import.meta.url), 'utf8');
    for (const host of clientHosts) {
      const client = clientFor({ destination_url: `https://${host}` });
      const row = text
        .split('\n')
        .find((line) => line.startsWith('|') && new RegExp(`\`(https://)?${host}\``).test(line));
      const variables = Object.values(client?.variables ?? {}).flatMap(({ url, key }) => [url, key]);
      expect([host, row]).toEqual([host, expect.any(String)]);
      // Stripe's own library is given the library's fetch there, which sends our header.
      if (page === 'call-with-stock-clients' && host === 'api.stripe.com') continue;
      for (const place of client?.places ?? []) expect([host, row]).toEqual([host, expect.stringContaining(place)]);
      if (page === 'run-without-credentials')
        for (const name of variables) expect([host, row]).toEqual([host, expect.stringContaining(name)]);
    }
  },
);
