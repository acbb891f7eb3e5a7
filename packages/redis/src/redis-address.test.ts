import { readRedisUrl } from './redis-address.ts';

test.each([
  ['redis://localhost:6379/3', { kind: 'server', tls: false }],
  ['rediss://:pw@cache.example', { kind: 'server', tls: true }],
  [
    'redis+cluster://a:7000,b,[::1]:7001',
    {
      kind: 'cluster',
      tls: false,
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
        { host: '::1', port: 7001 },
      ],
    },
  ],
  [
    'rediss+cluster://us%65r:p%40ss%2C@a:7000/',
    { kind: 'cluster', tls: true, username: 'user', password: 'p@ss,', hosts: [{ host: 'a', port: 7000 }] },
  ],
  [
    'redis+sentinel://:pw@s1,s2:26380/main/2?sentinel_password=p%26w',
    {
      kind: 'sentinel',
      tls: false,
      password: 'pw',
      hosts: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_380 },
      ],
      name: 'main',
      db: 2,
      sentinelPassword: 'p&w',
    },
  ],
])('%s is read', (url, address) => {
  expect(readRedisUrl(url)).toEqual(address);
});

test.each([
  ['redis+cluster://', 'none of'],
  ['redis+cluster://:pw-4711@', 'with hosts'],
  ['redis+cluster://:pw-4711@@a', 'with hosts'],
  ['redis+ring://pw-4711@a', 'none of'],
  ['redis+cluster://:pw-4711@a/1', 'one database'],
  ['redis+cluster://:pw-4711@a:x', 'a host that cannot be read'],
  ['redis+cluster://:pw-4711@a:65536', 'a host that cannot be read'],
  ['redis+cluster://:pw-4711@a,,b', 'a host that cannot be read'],
  ['redis+sentinel://:pw-4711@a', 'lacks the name of the master'],
  ['redis+sentinel://:pw-4711@a/main/x', 'lacks the name of the master'],
])('%s is refused, without the password', (url, reason) => {
  expect(() => readRedisUrl(url)).toThrow(reason);
  expect(() => readRedisUrl(url)).not.toThrow('pw-4711');
});
