import { readFile } from 'node:fs/promises';
import type { SettingSchema } from '@sluice/service-runtime';
import { committedFiles, referenceFile } from './committed.ts';
import { settingFaults } from './faults.ts';
import { describeSettings } from './reference.ts';
import { schemas } from './schemas.ts';
import { settingsOf } from './settings.ts';
import { unitOf } from './unit.ts';

const limit: SettingSchema = { type: 'integer', minimum: 1, default: 5000, description: 'Most rows that wait' };

function faultsOf(name: string, setting: SettingSchema): string[] {
  return settingFaults({ worker: { type: 'object', properties: { [name]: setting } } });
}

test.each(committedFiles.map(({ url, text }) => [url.pathname, text]))(
  '%s is what the schemas say now',
  async (path, text) => {
    const isCurrent = (await readFile(path, 'utf8')) === text;
    expect(isCurrent ? 'current' : `stale: run "npm run config" and commit ${path}`).toBe('current');
  },
);

test('every setting has a description, a unit if it is a number, one meaning and one group', () => {
  expect(settingFaults(schemas)).toEqual([]);
});

test('every setting of every service is in the reference once', () => {
  const names = referenceFile.text.match(/(?<=^\| `)[A-Z0-9_]+(?=` (?:\||\())/gm) ?? [];
  expect(names.length).toBeGreaterThan(50);
  expect(names.toSorted()).toEqual(settingsOf(schemas).map(({ name }) => name));
});

test('a secret is told to be one, and no other setting is', () => {
  const secret = referenceFile.text.match(/(?<=^\| `)[A-Z0-9_]+(?=` \(secret[;)])/gm) ?? [];
  expect(secret.toSorted()).toEqual([
    'DATABASE_URL',
    'KEY_PEPPER',
    'LEDGER_KEY',
    'OIDC_ISSUERS',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'REDIS_URL',
    'ROOT_KEY',
    'ROOT_KEY_PREVIOUS',
    'VAULT_TOKEN',
  ]);
});

test('a setting without a description is noticed', () => {
  expect(faultsOf('CACHE_MAX_ROWS', limit)).toEqual([]);
  expect(faultsOf('CACHE_MAX_ROWS', { ...limit, description: ' ' })).toEqual([
    'CACHE_MAX_ROWS (worker): has no description',
  ]);
});

test('a number without a unit is noticed, and one that tells two', () => {
  expect(faultsOf('SWEEP_INTERVAL', { ...limit, description: 'How often something is done' })).toEqual([
    'SWEEP_INTERVAL (worker): neither its name nor its description tells the unit',
  ]);
  expect(faultsOf('SWEEP_INTERVAL_MS', { ...limit, description: 'How often, in seconds' })).toEqual([
    'SWEEP_INTERVAL_MS (worker): name and description tell different units',
  ]);
});

test('a secret with a default is noticed, and a name that is a secret in one service only', () => {
  const url: SettingSchema = { type: 'string', writeOnly: true, description: 'Where Redis is' };
  expect(faultsOf('REDIS_URL', { ...url, default: 'redis://x' })).toEqual([
    'REDIS_URL (worker): a secret has a default',
  ]);
  const { writeOnly: _, ...open } = url;
  const both = { worker: schemaOf('REDIS_URL', url), ingress: schemaOf('REDIS_URL', open) };
  expect(settingFaults(both)).toEqual(['REDIS_URL: ingress and worker differ in type or secrecy']);
});

test('a URL or a host without a format is noticed, because its port would be a stack trace that names no setting', () => {
  const url: SettingSchema = { type: 'string', pattern: '^redis://', description: 'Where Redis is' };
  expect(faultsOf('REDIS_URL', url)).toEqual(['REDIS_URL (worker): an address without a format']);
  expect(faultsOf('REDIS_URL', { ...url, format: 'ports' })).toEqual([]);
});

test('a setting that is in no group, or in two, is noticed', () => {
  expect(faultsOf('UNHEARD_OF_ROWS', limit)).toEqual(['UNHEARD_OF_ROWS: is in 0 groups of groups.ts ()']);
  const everything = { title: 'All', about: 'All', names: /./ };
  const two = settingFaults({ worker: schemaOf('CACHE_ROWS', limit) }, [everything, { ...everything, title: 'More' }]);
  expect(two).toEqual(['CACHE_ROWS: is in 2 groups of groups.ts (All, More)']);
});

test.each([
  ['RATE_LIMIT_PROXY_PER_SECOND', 'Invocations for each Proxy', 'per second'],
  ['PUBLIC_TOKENS_PER_MINUTE', 'Tokens of each Application', 'per minute'],
  ['PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE', 'Bytes a minute of each address', 'bytes'],
  ['RATE_LIMIT_WINDOW_SECONDS', 'Counted over so long', 's'],
  ['JOB_LOCK_MS', 'How long a job is locked', 'ms'],
  ['JOB_LOCK', 'How long a job is locked, in\nmilliseconds', 'ms'],
  ['ADMIN_PORT', 'Where probes ask', 'port'],
  ['TRANSFORM_THREADS', 'Threads that run transforms', 'threads'],
  ['TRANSFORM_AMOUNT', 'How much', undefined],
])('the unit of %s (%s) is %s', (name, description, unit) => {
  expect(unitOf(name, { type: 'integer', description })).toBe(unit);
});

test('what services say alike is said once, what differs is told apart', () => {
  const text = describeSettings({
    ingress: { ...schemaOf('PORT', { type: 'integer', default: 1, description: 'Port to listen on' }), required: [] },
    worker: schemaOf('PORT', { type: 'integer', default: 2, description: 'Port to listen on' }),
    'token-vault': schemaOf('JOB_LOCK_MS', { ...limit, maximum: 60_000 }),
  });
  expect(text).toContain('| `PORT` | Port to listen on | `1` (ingress); `2` (worker) |');
  expect(text).toContain('| `5000` (5 s); 1–60000 |');
});

function schemaOf(name: string, setting: SettingSchema) {
  return { type: 'object', properties: { [name]: setting } } as const;
}
