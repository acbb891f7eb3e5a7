import { isIP } from 'node:net';
import { destinationPolicy } from './index.ts';
import { ipv4Notations, ipv4Ranges } from './testing/ipv4-urls.ts';
import { ipv6 } from './testing/ipv6-urls.ts';
import { metadata } from './testing/metadata-urls.ts';
import { names, publicUrls } from './testing/names-urls.ts';
import { ports, repairs, schemes } from './testing/notation-urls.ts';
import type { TakenBy } from './testing/url-row.ts';

const standard = destinationPolicy({ schemes: ['https'], allow: [], deny: [] });
const local = destinationPolicy({
  schemes: ['http', 'https'],
  allow: ['loopback', 'private', 'single-label', 'host.docker.internal'],
  deny: [],
});
/** Control: URLs that it accepts are refused by a rule of the other policies. */
const everything = destinationPolicy({
  schemes: ['http', 'https'],
  allow: ['0.0.0.0/0', '::/0', 'loopback', 'single-label', '*.internal', '*.local'],
  deny: [],
});

const order: TakenBy[] = ['standard', 'local', 'everything', 'parser', 'nobody'];

function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

describe.each([
  ['public', publicUrls],
  ['names', names],
  ['IPv4 notations', ipv4Notations],
  ['IPv4 ranges', ipv4Ranges],
  ['IPv6', ipv6],
  ['metadata', metadata],
  ['repair', repairs],
  ['schemes', schemes],
  ['ports', ports],
])('%s', (_, rows) => {
  test.each(rows)('first taken by %s: %j', (takenBy, url) => {
    const takers = {
      standard: standard.checkUrl(url).ok,
      local: local.checkUrl(url).ok,
      everything: everything.checkUrl(url).ok,
      parser: URL.parse(url) !== null,
      nobody: true,
    };
    expect(order.filter((taker) => takers[taker])).toEqual(order.slice(order.indexOf(takenBy)));

    const verdict = everything.checkUrl(url);
    const address = verdict.ok ? bareHost(verdict.url) : '';
    if (isIP(address) === 0) return;
    for (const [taker, policy] of Object.entries({ local, everything })) {
      expect([taker, policy.checkAddress(address)]).toEqual([taker, policy.checkUrl(url).ok]);
    }
  });
});

describe('a refusal', () => {
  test.each([
    ['http://example.com/', 'DESTINATION_SCHEMES'],
    ['https://10.0.0.1/', 'DESTINATION_ALLOW'],
    ['https://echo/', 'DESTINATION_ALLOW'],
  ])('the refusal of %s names %s', (url, setting) => {
    expect(standard.checkUrl(url)).toEqual({ ok: false, reason: expect.stringContaining(setting) });
  });

  test('a refusal by the deny list names that setting', () => {
    const policy = destinationPolicy({ schemes: ['https'], allow: [], deny: ['*.example.com'] });
    expect(policy.checkUrl('https://a.example.com/')).toEqual({
      ok: false,
      reason: expect.stringContaining('DESTINATION_DENY'),
    });
    expect(policy.checkUrl('https://example.com/').ok).toBe(true);
  });
});
