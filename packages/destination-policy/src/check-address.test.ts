import { destinationPolicy } from './index.ts';

const standard = destinationPolicy({ schemes: ['https'], allow: [], deny: [] });

describe('checkAddress', () => {
  test('takes addresses only, in the notation that sockets show', () => {
    expect(standard.checkAddress('8.8.8.8')).toBe(true);
    for (const text of ['', 'example.com', '8.8.2056', '010.8.8.8', '8.8.8.8/32', '[', 'undefined']) {
      expect(standard.checkAddress(text)).toBe(false);
    }
  });

  test('what one list opens, nothing else opens', () => {
    const policy = destinationPolicy({
      schemes: ['https'],
      allow: ['10.1.0.0/16', 'fd12::/16', '192.0.2.7'],
      deny: [],
    });
    for (const inside of ['10.1.2.3', 'fd12::1', '192.0.2.7']) expect(policy.checkAddress(inside)).toBe(true);
    for (const outside of ['10.2.0.1', 'fd13::1', '192.0.2.8', '127.0.0.1', '::ffff:10.1.2.3']) {
      expect(policy.checkAddress(outside)).toBe(false);
    }
  });

  test('a name that is allowed by name may resolve to anything but denied and metadata addresses', () => {
    const policy = destinationPolicy({ schemes: ['https'], allow: ['*.example.test'], deny: ['10.9.0.0/16'] });
    expect(policy.checkAddress('10.0.0.1', 'a.b.Example.Test.')).toBe(true);
    expect(policy.checkAddress('127.0.0.1', 'a.example.test')).toBe(true);
    expect(policy.checkAddress('10.0.0.1', 'example.test')).toBe(false);
    expect(policy.checkAddress('10.0.0.1', 'aexample.test')).toBe(false);
    expect(policy.checkAddress('10.9.0.1', 'a.example.test')).toBe(false);
    expect(policy.checkAddress('::ffff:10.9.0.1', 'a.example.test')).toBe(false);
    expect(policy.checkAddress('169.254.169.254', 'a.example.test')).toBe(false);
    expect(policy.checkAddress('64:ff9b::a9fe:a9fe', 'a.example.test')).toBe(false);
  });

  test('a name that may not be configured may not be dialled either, whatever it resolves to', () => {
    expect(standard.checkAddress('8.8.8.8', 'metadata.google.internal')).toBe(false);
    expect(standard.checkAddress('8.8.8.8', 'echo')).toBe(false);
    expect(standard.checkAddress('8.8.8.8', 'example.com')).toBe(true);
  });

  test('single-label names are allowed as names, their addresses are not', () => {
    const policy = destinationPolicy({ schemes: ['https'], allow: ['single-label'], deny: [] });
    expect(policy.checkUrl('https://echo/').ok).toBe(true);
    expect(policy.checkUrl('https://localhost/').ok).toBe(false);
    expect(policy.checkAddress('10.0.0.1', 'echo')).toBe(false);
    expect(policy.checkAddress('8.8.8.8', 'echo')).toBe(true);
  });

  test('deny wins, by address, keyword and name', () => {
    const everything = ['0.0.0.0/0', '::/0', 'single-label', 'loopback', '*.test'];
    const policy = destinationPolicy({
      schemes: ['https'],
      allow: everything,
      deny: ['8.8.8.8', 'loopback', 'single-label', 'bad.test', 'private'],
    });
    for (const url of [
      'https://8.8.8.8/',
      'https://localhost/',
      'https://echo/',
      'https://bad.test/',
      'https://[::1]/',
    ]) {
      expect(policy.checkUrl(url).ok).toBe(false);
    }
    expect(policy.checkAddress('10.0.0.1', 'good.test')).toBe(false);
    expect(policy.checkAddress('192.0.2.1', 'good.test')).toBe(true);
  });

  test('metadata addresses stay closed where everything is allowed', () => {
    const policy = destinationPolicy({ schemes: ['https'], allow: ['0.0.0.0/0', '::/0', 'm.test'], deny: [] });
    const forms = [
      '169.254.169.254',
      '169.254.0.1',
      '168.63.129.16',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
      '::a9fe:a9fe',
    ];
    forms.push('64:ff9b::a9fe:a9fe', '64:ff9b:1:a9fe:a9:fe00::', '64:ff9b:1::a83f:8110', '2002:a9fe:a9fe::1');
    forms.push('2001:0:a9fe:a9fe::1', '2001:0:808:808:0:0:5601:5601');
    for (const address of forms) {
      expect([address, policy.checkAddress(address, 'm.test')]).toEqual([address, false]);
      expect([address, policy.checkAddress(address)]).toEqual([address, false]);
    }
    expect(policy.checkAddress('10.0.0.1')).toBe(true);
  });

  test('a NAT64 prefix that is allowed is judged by the address behind it', () => {
    const policy = destinationPolicy({
      schemes: ['https'],
      allow: ['64:ff9b::/96', '64:ff9b:1::/48'],
      deny: ['1.1.1.1'],
    });
    expect(policy.checkAddress('64:ff9b::808:808')).toBe(true);
    expect(policy.checkAddress('64:ff9b::a00:1')).toBe(false);
    expect(policy.checkAddress('64:ff9b::101:101')).toBe(false);
    expect(policy.checkAddress('64:ff9b:1::808:808')).toBe(true);
    expect(policy.checkAddress('64:ff9b:1:a00:0:1::808:808')).toBe(false);
    expect(policy.checkAddress('::ffff:8.8.8.8')).toBe(false);
  });
});
