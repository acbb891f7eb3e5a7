import { parseArgs } from 'node:util';
import { UsageError } from '../failure.ts';
import type { RouteProxy } from './find-routes.ts';
import { readRouteOptions, routeOptions } from './options.ts';
import { grantsFor } from './session-rules.ts';

const proxyWith = (members: Partial<RouteProxy>): RouteProxy => ({
  ...{ id: 'p', tenant_id: 't', name: 'P', key: 'k', destination_url: 'https://example.com' },
  ...{ require_auth: true, path_name: 'route' },
  ...members,
});
const headers = (...texts: string[]) => Object.fromEntries(texts.map((text, index) => [`X-${index}`, text]));
const own = '/agents/own/';
const using = { transform: 'redact', permissions: ['token:use'] };
const ofToken = (value: string) => ({ ...using, conditions: [{ attribute: 'id', operator: 'equals', value }] });

test.each<[string, string[], string[]]>([
  ['a token', ['Bearer {{ a }}'], ['a']],
  ['two in a text, one of them twice', ['{{a}}:{{ b }}', '{{ a }}'], ['a', 'b']],
  ['with filters, whose arguments have braces', ["{{ a | replace: '}}', '{{ b }}' | upcase }}x{{ c }}"], ['a', 'c']],
  ['none in a quoted text', ["{{ '{{ a }}' }}{{ b }}", '{{ "{{ c }}" }}'], ['b']],
  ['none in a configuration value', ['{{ config: KEY }}', "{{ config: A | append: '{{ b }}' }}"], []],
])('tokens that request_headers name: %s', (_name, texts, tokens) => {
  const proxies = [proxyWith({ request_headers: headers(...texts) })];
  const conditions = grantsFor(proxies, own, {}).rules?.map((rule) => rule.conditions?.[0]?.value ?? rule.container);
  expect(conditions).toEqual(tokens.length > 0 ? tokens : [own]);
});

test('no rule for tokens that a Proxy reveals as its own Application, or that its deleted one no longer reveals', () => {
  const request_headers = headers('{{ a }}');
  const proxies = [
    proxyWith({ request_headers, application_id: 'x' }),
    proxyWith({ request_headers, former_application_id: 'x' }),
  ];
  expect(grantsFor(proxies, own, {}).rules).toEqual([{ priority: 1, container: own, ...using }]);
});

test('each token and each container is a rule, once', () => {
  const proxies = [proxyWith({ request_headers: headers('{{ a }}') })];
  const grants = { tokens: ['a', 'b', 'b'], containers: ['/x/', '/x/'] };
  expect(grantsFor(proxies, own, grants)).toEqual({
    rules: [
      { priority: 1, ...ofToken('a') },
      { priority: 2, ...ofToken('b') },
      { priority: 3, container: '/x/', ...using },
    ],
  });
});

test('a session that may create has one more rule, on its own container', () => {
  const creating = { ...using, container: own, permissions: ['token:create', 'token:use'] };
  expect(grantsFor([], own, { mayCreate: true }).rules).toEqual([{ priority: 1, ...creating }]);
  expect(grantsFor([], own, { mayCreate: true, tokens: ['a'] }).rules).toEqual([
    { priority: 1, ...ofToken('a') },
    { priority: 2, ...creating },
  ]);
});

test('all tokens are a permission, and no rule', () => {
  const proxies = [proxyWith({ request_headers: headers('{{ a }}') })];
  expect(grantsFor(proxies, own, { allTokens: true })).toEqual({ permissions: ['token:use'], rules: [] });
});

test('a hundred rules are allowed, and one more is a usage error', () => {
  const tokens = Array.from({ length: 100 }, (_, index) => `t${index}`);
  expect(grantsFor([], own, { tokens }).rules).toHaveLength(100);
  expect(() => grantsFor([], own, { tokens, containers: ['/x/'] })).toThrow(UsageError);
  expect(() => grantsFor([], own, { tokens, mayCreate: true })).toThrow('but this command needs 101');
});

const read = (...args: string[]) =>
  readRouteOptions(parseArgs({ args, options: routeOptions, allowPositionals: true }));

test.each<[string[], number]>([
  [[], 3600],
  [['--for', '90s'], 90],
  [['--for', '1h30m'], 5400],
  [['--for', '24h'], 86_400],
])('the life of a session: %j', (words, seconds) => {
  expect(read('--routes', 'b,a,b', ...words)).toMatchObject({ routes: ['b', 'a'], seconds });
});

test.each<[string, string[]]>([
  ['--routes is missing', []],
  ['--routes is missing', ['--routes', ' ,']],
  ['no route can have', ['--routes', 'a,../b']],
  ['--for must be a time', ['--routes', 'a', '--for', '1 day']],
  ['--for must be a time', ['--routes', 'a', '--for', '']],
  ['from 1s to 24h', ['--routes', 'a', '--for', '24h1s']],
  ['from 1s to 24h', ['--routes', 'a', '--for', '0s']],
  ['leave out --container and --token', ['--routes', 'a', '--all-tokens', '--token', 'a']],
])('a usage error that says: %s (%j)', (message, words) => {
  expect(() => read(...words)).toThrow(UsageError);
  expect(() => read(...words)).toThrow(message);
});
