import type { IncomingMessage } from 'node:http';
import { addressReader, canonicalAddress, networkOf, singleAddressOf } from './client-address.ts';

function from(remoteAddress: string, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('the address of a client', () => {
  test.each<[string, string | undefined, string, string | undefined, string]>([
    ['without proxies it is the peer, whatever the client writes', undefined, '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['likewise with none', 'none', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['the last that no trusted proxy wrote', '10.0.0.0/8', '10.0.0.2', '203.0.113.9, 192.0.2.1, 10.0.0.3', '192.0.2.1'],
    ['a peer that is not trusted is not believed', '10.0.0.0/8', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['a trusted peer that says nothing is the client', '10.0.0.0/8', '10.0.0.2', undefined, '10.0.0.2'],
    ['what is no address ends the chain', '10.0.0.0/8', '10.0.0.2', '192.0.2.1, unknown', '10.0.0.2'],
    ['IPv4 in IPv6 is IPv4', '10.0.0.0/8', '::ffff:10.0.0.2', '::ffff:192.0.2.1', '192.0.2.1'],
    ['IPv6', 'fd00::/8', 'fd00::1', '2001:DB8:0::1', '2001:db8::1'],
    ['several networks', 'fd00::/8, 127.0.0.1/32', '127.0.0.1', '2001:db8::1, fd00::2', '2001:db8::1'],
    ['a short or octal form is no address', '10.0.0.0/8', '10.0.0.2', '0300.0.2.1', '10.0.0.2'],
  ])('%s', (_, trusted, peer, forwarded, expected) => {
    expect(addressReader(trusted)(from(peer, forwarded))).toBe(expected);
  });

  test('a setting that holds no network stops the start, naming it', () => {
    expect(() => addressReader('10.0.0.0/8, ingress')).toThrow('TRUSTED_PROXIES: "ingress"');
  });
});

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
  ['unknown', 'unknown'],
])('a flood from %s counts to %s', (address, network) => expect(networkOf(address)).toBe(network));

test.each([
  ['192.0.2.77', '192.0.2.77/32'],
  ['2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
])('%s is for limits the address %s', (address, single) => expect(singleAddressOf(address)).toBe(single));

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8::0:1', '2001:db8::1'],
  ['1.2.3', undefined],
  ['', undefined],
  ['localhost', undefined],
])('%s is the address %s', (text, expected) => expect(canonicalAddress(text)).toBe(expected));
