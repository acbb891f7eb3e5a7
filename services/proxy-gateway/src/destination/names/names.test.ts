import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, useStack } from '@sluice/testing';
import { type DnsServer, startDnsServer } from '../../testing/start-dns-server.ts';
import { type NamesOptions, openNames } from './names.ts';
import { candidates, parseHosts, parseSearchRules } from './system-files.ts';

const dns = useStack((stack) => startDnsServer(stack));
const folder = mkdtempSync(join(tmpdir(), 'names-'));
const fileWith = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const nothing = fileWith('nothing', '');

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function open(zone: Parameters<DnsServer['setZone']>[0], options: NamesOptions = {}) {
  const { server, setZone, asked } = dns.current;
  await setZone(zone);
  asked.length = 0;
  const names = openNames({ servers: [server], hostsFile: nothing, resolvConf: nothing, ...options });
  closers.push(() => names.close());
  const ask = (name: string, tenantId = 'a') =>
    new Promise<string[] | string>((resolve) => {
      names.resolverFor(tenantId)(name, { all: true }, (error, addresses) =>
        resolve(error ? `${error.code}` : addresses.map(({ address, family }) => `${family} ${address}`)),
      );
    });
  return { names, ask, asked };
}

/** The server tells what it was asked by another way than it answers, so the answer may be there first. */
const told = (asked: readonly string[], count: number) =>
  eventually('what the server was asked', () => asked.length >= count);

test('both families, only one, none, and no such name', async () => {
  const { ask } = await open({
    'both.test': { addresses: ['10.0.0.1', '2001:db8::1'], ttl: 60 },
    'six.test': { addresses: ['2001:db8::2'], ttl: 60 },
    'none.test': { addresses: [], ttl: 60 },
    'broken.test': 'fails',
  });
  expect(await ask('BOTH.test')).toEqual(['4 10.0.0.1', '6 2001:db8::1']);
  expect(await ask('six.test')).toEqual(['6 2001:db8::2']);
  expect(await Promise.all(['none.test', 'absent.test', 'broken.test'].map((name) => ask(name)))).toEqual([
    'ENOTFOUND',
    'ENOTFOUND',
    'EDNS',
  ]);
});

test('who asks for one name at a time asks once, whatever the Tenant, and the answer is remembered', async () => {
  const { ask, asked, names } = await open({ 'one.test': { addresses: ['10.0.0.1'], ttl: 60 } });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask('one.test', `tenant-${i}`)));
  expect(new Set(answers.flat())).toEqual(new Set(['4 10.0.0.1']));
  await ask('one.test');
  await told(asked, 2);
  expect(asked.toSorted()).toEqual(['A one.test', 'AAAA one.test']);
  expect(names.state()).toMatchObject({ underWay: 0, waiting: 0, outcomes: { found: 1 } });
});

test('an answer is remembered as long as its time to live says, a failure for a second, and a change is seen then', async () => {
  const { ask } = await open({
    'moves.test': { addresses: ['10.0.0.1'], ttl: 0 },
    'stays.test': { addresses: ['10.0.0.1'], ttl: 60 },
  });
  for (const name of ['moves.test', 'stays.test', 'comes.test']) await ask(name);
  const after = { addresses: ['10.0.0.2'], ttl: 60 };
  await dns.current.setZone({ 'moves.test': after, 'stays.test': after, 'comes.test': after });
  expect([await ask('moves.test'), await ask('comes.test')]).toEqual([['4 10.0.0.1'], 'ENOTFOUND']);
  await wait(1100);
  expect([await ask('moves.test'), await ask('comes.test'), await ask('stays.test')]).toEqual([
    ['4 10.0.0.2'],
    ['4 10.0.0.2'],
    ['4 10.0.0.1'],
  ]);
});

test('names that are never answered keep nobody but their own Tenant waiting', async () => {
  const silent = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`silent-${i}.test`, 'silent' as const]));
  const { ask, asked, names } = await open({ ...silent, 'good.test': { addresses: ['10.0.0.1'], ttl: 60 } });
  const order: string[] = [];
  const never = Object.keys(silent).map((name) => ask(name, 'a').then(() => order.push('silent')));
  const own = ask('good.test', 'a').then(() => order.push('own'));
  expect(await ask('good.test', 'b')).toEqual(['4 10.0.0.1']);
  expect(order).toEqual([]);
  expect(names.state()).toMatchObject({ underWay: 4, waiting: 5 });
  expect(new Set(asked.filter((query) => query.includes('silent'))).size).toBeLessThanOrEqual(8); // two for each of four
  await Promise.all([...never, own]);
  expect(names.state()).toMatchObject({ underWay: 0, waiting: 0 });
});

test('what waits longer than its caller is not asked for', async () => {
  const { ask, asked } = await open(
    { 'first.test': 'silent', 'second.test': 'silent' },
    { lookupsPerTenant: 1, maxWaitMs: 500 },
  );
  expect(await Promise.all([ask('first.test'), ask('second.test')])).toEqual(['EDNS', 'EDNS']);
  expect(asked.some((query) => query.endsWith('second.test'))).toBe(false);
});

test('the oldest names go', async () => {
  const address = { addresses: ['10.0.0.1'], ttl: 60 };
  const { ask, asked, names } = await open(
    { '1.test': address, '2.test': address, '3.test': address },
    { maxNames: 2 },
  );
  for (const name of ['1.test', '2.test', '3.test', '3.test', '1.test']) await ask(name);
  await told(asked, 8);
  expect(asked.filter((query) => query.startsWith('A '))).toEqual(['A 1.test', 'A 2.test', 'A 3.test', 'A 1.test']);
  expect(names.state().remembered).toBe(2);
});

test('the hosts file comes first, and is followed as it changes; localhost is known', async () => {
  const hostsFile = fileWith('hosts', '10.9.9.9 Listed.test other # comment\n::9 listed.test\nbad line\n');
  const { ask, asked } = await open({ 'listed.test': { addresses: ['10.0.0.1'], ttl: 60 } }, { hostsFile });
  expect(await ask('listed.test')).toEqual(['4 10.9.9.9', '6 ::9']);
  expect(await ask('a.localhost')).toEqual(['4 127.0.0.1', '6 ::1']);
  expect(asked).toEqual([]);
  fileWith('hosts', '');
  utimesSync(hostsFile, new Date(), new Date(Date.now() + 5000));
  await wait(1100);
  expect(await ask('listed.test')).toEqual(['4 10.0.0.1']);
});

test('the search list is gone through, and a name with enough dots is asked for as it is first', async () => {
  const resolvConf = fileWith('resolv', 'nameserver 192.0.2.1\nsearch one.test two.test\noptions ndots:2 timeout:1\n');
  const { ask, asked } = await open({ 'app.two.test': { addresses: ['10.0.0.1'], ttl: 60 } }, { resolvConf });
  expect(await ask('app')).toEqual(['4 10.0.0.1']);
  await told(asked, 4);
  expect(asked.filter((query) => query.startsWith('A '))).toEqual(['A app.one.test', 'A app.two.test']);
});

test.each([
  ['app', ['app.a.test', 'app.b.test', 'app']],
  ['app.x', ['app.x.a.test', 'app.x.b.test', 'app.x']],
  ['app.x.y', ['app.x.y', 'app.x.y.a.test', 'app.x.y.b.test']],
  ['app.', ['app.']],
])('%s is looked for as %j', (name, expected) => {
  expect(candidates(name, parseSearchRules('domain old.test\nsearch a.test. b.test\noptions rotate ndots:2'))).toEqual(
    expected,
  );
});

test('what is not in such a file is passed over', () => {
  expect(parseHosts('# nothing\n\n1.2.3 a\n').size).toBe(0);
  expect(parseSearchRules('options ndots:x\nsearch\n')).toEqual({ search: [], ndots: 1 });
});
