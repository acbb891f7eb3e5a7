import { createDestinationPolicy, destinationPolicyFrom, destinationSettings } from './index.ts';

const standard = createDestinationPolicy({ schemes: ['https'], allow: [], deny: [] });
const local = createDestinationPolicy({
  schemes: ['http', 'https'],
  allow: ['loopback', 'private', 'single-label', 'host.docker.internal'],
  deny: [],
});

const yes = true;
const no = false;

/** URL, allowed by the standard policy, allowed by the policy of the local stack. */
const urls: [string, boolean, boolean][] = [
  // public
  ['https://example.com', yes, yes],
  ['https://example.com/', yes, yes],
  ['HTTPS://EXAMPLE.COM/Path?q=1', yes, yes],
  ['https://example.com:8443/a/b?c=d&e=%20', yes, yes],
  ['https://example.com./', yes, yes],
  ['https://a_b.example.com/', yes, yes],
  ['https://bücher.example/', yes, yes],
  ['https://xn--bcher-kva.example/', yes, yes],
  ['https://example。com/', yes, yes],
  ['https://ex%61mple.com/', yes, yes],
  ['https://8.8.8.8/', yes, yes],
  ['https://8.8.8.8./', yes, yes],
  ['https://134744072/', yes, yes],
  ['https://[2606:4700::1111]/', yes, yes],
  ['https://[2606:4700:0:0:0:0:0:1111]:444/', yes, yes],
  ['https://example.com/%2e%2e/x', yes, yes],
  ['https://example.com/a@b', yes, yes],
  ['https://example.com?q=a@b', yes, yes],
  ['https://localhost.example.com/', yes, yes],
  ['https://internal.example.com/', yes, yes],
  // schemes
  ['http://example.com/', no, yes],
  ['http://8.8.8.8/', no, yes],
  ['ftp://example.com/', no, no],
  ['file:///etc/passwd', no, no],
  ['ws://example.com/', no, no],
  ['wss://example.com/', no, no],
  ['gopher://example.com/', no, no],
  ['javascript:alert(1)', no, no],
  ['data:text/plain,x', no, no],
  ['blob:https://example.com/1', no, no],
  ['https+unix://example.com/', no, no],
  // what would need repair
  ['', no, no],
  ['example.com', no, no],
  ['//example.com/', no, no],
  ['/path', no, no],
  ['https:example.com', no, no],
  ['https:/example.com', no, no],
  ['https:///example.com', no, no],
  ['https:////example.com', no, no],
  ['https://', no, no],
  ['https://?q', no, no],
  ['https://:443/', no, no],
  [' https://example.com', no, no],
  ['https://example.com ', no, no],
  ['https://example.com/a b', no, no],
  ['https://exam\tple.com/', no, no],
  ['https://example.com/\n', no, no],
  ['https://example.com/\r\nHost: x', no, no],
  ['https://example.com\\@evil.example/', no, no],
  ['https:\\\\example.com', no, no],
  ['https://example.com/a\\b', no, no],
  ['https://example.com/\u0000', no, no],
  ['https://example.com/\u0085', no, no],
  ['https://example.com/\u00a0', no, no],
  ['\ufeffhttps://example.com/', no, no],
  ['https://exam\u00adple.com/', no, no],
  ['https://exam\u200bple.com/', no, no],
  ['https://example.com/\ud800', no, no],
  ['https://user@example.com/', no, no],
  ['https://user:secret@example.com/', no, no],
  ['https://@example.com/', no, no],
  ['https://example.com@127.0.0.1/', no, no],
  ['https://example.com/#fragment', no, no],
  ['https://example.com/#', no, no],
  ['https://example.com#@127.0.0.1/', no, no],
  ['https://example.com:99999/', no, no],
  ['https://example.com:8x/', no, no],
  ['https://exa mple.com/', no, no],
  ['https://a..b/', no, no],
  ['https://example.com../', no, no],
  ['https://.example.com/', no, no],
  ['https://*.example.com/', no, no],
  ['https://-a.example.com/', no, no],
  ['https://a%00.example.com/', no, no],
  ['https://a%2f.example.com/', no, no],
  [`https://${'a'.repeat(64)}.example.com/`, no, no],
  [`https://${'a.'.repeat(127)}com/`, no, no],
  [`https://example.com/${'a'.repeat(2028)}`, yes, yes],
  [`https://example.com/${'a'.repeat(2029)}`, no, no],
  // names
  ['https://echo/', no, yes],
  ['https://echo./', no, yes],
  ['http://echo:8080/x', no, yes],
  ['https://localhost/', no, yes],
  ['https://LOCALHOST./', no, yes],
  ['https://ⓛocalhost/', no, yes],
  ['https://localhos%74/', no, yes],
  ['https://api.localhost/', no, yes],
  ['https://host.docker.internal/', no, yes],
  ['https://HOST.docker.internal./', no, yes],
  ['https://x.host.docker.internal/', no, no],
  ['https://metadata.google.internal/', no, no],
  ['https://printer.local/', no, no],
  ['https://printer.local./', no, no],
  // IPv4 in every notation
  ['https://127.0.0.1/', no, yes],
  ['https://127.0.0.1./', no, yes],
  ['https://127.1/', no, yes],
  ['https://127.0.1/', no, yes],
  ['https://2130706433/', no, yes],
  ['https://0x7f000001/', no, yes],
  ['https://0x7f.1/', no, yes],
  ['https://0X7F.0x0.0x0.0x1/', no, yes],
  ['https://0177.0.0.1/', no, yes],
  ['https://017700000001/', no, yes],
  ['https://127。0。0。1/', no, yes],
  ['https://127．0．0．1/', no, yes],
  ['https://１２７.0.0.1/', no, yes],
  ['https://①②⑦.0.0.1/', no, yes],
  ['https://%31%32%37.0.0.1/', no, yes],
  ['https://127%2e0%2e0%2e1/', no, yes],
  ['https://127.255.255.254/', no, yes],
  ['https://10.0.0.1/', no, yes],
  ['https://0xa.1/', no, yes],
  ['https://012.0.0.1/', no, yes],
  ['https://172.16.0.1/', no, yes],
  ['https://172.31.255.255/', no, yes],
  ['https://172.32.0.1/', yes, yes],
  ['https://192.168.1.1/', no, yes],
  ['https://0/', no, no],
  ['https://0.0.0.0/', no, no],
  ['https://0.1.2.3/', no, no],
  ['https://100.64.0.1/', no, no],
  ['https://192.0.0.8/', no, no],
  ['https://192.0.2.1/', no, no],
  ['https://192.88.99.1/', no, no],
  ['https://198.18.0.1/', no, no],
  ['https://198.51.100.1/', no, no],
  ['https://203.0.113.1/', no, no],
  ['https://224.0.0.1/', no, no],
  ['https://240.0.0.1/', no, no],
  ['https://255.255.255.255/', no, no],
  ['https://4294967295/', no, no],
  ['https://4294967296/', no, no],
  ['https://256.1.1.1/', no, no],
  ['https://1.2.3.4.5/', no, no],
  ['https://1.2.3.0x/', yes, yes],
  // cloud metadata
  ['https://169.254.169.254/', no, no],
  ['https://169.254.170.2/', no, no],
  ['https://2852039166/', no, no],
  ['https://0xa9fea9fe/', no, no],
  ['https://0251.0376.0251.0376/', no, no],
  ['https://168.63.129.16/', no, no],
  ['https://100.100.100.200/', no, no],
  ['https://[fd00:ec2::254]/', no, no],
  ['https://[fd00:0ec2:0:0::0254]/', no, no],
  ['https://[fd20:ce::254]/', no, no],
  ['https://[::ffff:169.254.169.254]/', no, no],
  ['https://[::ffff:a9fe:a9fe]/', no, no],
  ['https://[64:ff9b::169.254.169.254]/', no, no],
  ['https://[64:ff9b:1::169.254.169.254]/', no, no],
  // IPv6 in every notation
  ['https://[::1]/', no, yes],
  ['https://[0:0:0:0:0:0:0:1]/', no, yes],
  ['https://[0000::0001]:8443/', no, yes],
  ['https://[::0.0.0.1]/', no, yes],
  ['https://[fd12:3456::1]/', no, yes],
  ['https://[FC00::]/', no, yes],
  ['https://[::]/', no, no],
  ['https://[::127.0.0.1]/', no, no],
  ['https://[::8.8.8.8]/', no, no],
  ['https://[::ffff:127.0.0.1]/', no, no],
  ['https://[::ffff:7f00:1]/', no, no],
  ['https://[::ffff:8.8.8.8]/', no, no],
  ['https://[::ffff:0:8.8.8.8]/', no, no],
  ['https://[64:ff9b::8.8.8.8]/', no, no],
  ['https://[64:ff9b::7f00:1]/', no, no],
  ['https://[64:ff9b:1::8.8.8.8]/', no, no],
  ['https://[2002:7f00:1::]/', no, no],
  ['https://[2002:808:808::1]/', no, no],
  ['https://[2001::1]/', no, no],
  ['https://[2001:db8::1]/', no, no],
  ['https://[3fff::1]/', no, no],
  ['https://[2001:10::1]/', no, no],
  ['https://[100::1]/', no, no],
  ['https://[5f00::1]/', no, no],
  ['https://[4000::1]/', no, no],
  ['https://[fe80::1]/', no, no],
  ['https://[fec0::1]/', no, no],
  ['https://[ff02::1]/', no, no],
  ['https://[fe80::1%25eth0]/', no, no],
  ['https://[::1/', no, no],
  ['https://::1/', no, no],
  ['https://[127.0.0.1]/', no, no],
];

describe('checkUrl', () => {
  test.each(urls)('%j', (url, byStandard, byLocal) => {
    expect([standard.checkUrl(url).ok, local.checkUrl(url).ok]).toEqual([byStandard, byLocal]);
  });

  test.each([
    ['http://example.com/', 'DESTINATION_SCHEMES'],
    ['https://10.0.0.1/', 'DESTINATION_ALLOW'],
    ['https://echo/', 'DESTINATION_ALLOW'],
  ])('the refusal of %s names %s', (url, setting) => {
    expect(standard.checkUrl(url)).toEqual({ ok: false, reason: expect.stringContaining(setting) });
  });

  test('a refusal by the deny list names that setting', () => {
    const policy = createDestinationPolicy({ schemes: ['https'], allow: [], deny: ['*.example.com'] });
    expect(policy.checkUrl('https://a.example.com/')).toEqual({
      ok: false,
      reason: expect.stringContaining('DESTINATION_DENY'),
    });
    expect(policy.checkUrl('https://example.com/').ok).toBe(true);
  });
});

describe('checkAddress', () => {
  test('takes addresses only, in the notation that sockets show', () => {
    expect(standard.checkAddress('8.8.8.8')).toBe(true);
    for (const text of ['', 'example.com', '8.8.2056', '010.8.8.8', '8.8.8.8/32', '[', 'undefined']) {
      expect(standard.checkAddress(text)).toBe(false);
    }
  });

  test('what one list opens, nothing else opens', () => {
    const policy = createDestinationPolicy({
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
    const policy = createDestinationPolicy({ schemes: ['https'], allow: ['*.example.test'], deny: ['10.9.0.0/16'] });
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
    const policy = createDestinationPolicy({ schemes: ['https'], allow: ['single-label'], deny: [] });
    expect(policy.checkUrl('https://echo/').ok).toBe(true);
    expect(policy.checkUrl('https://localhost/').ok).toBe(false);
    expect(policy.checkAddress('10.0.0.1', 'echo')).toBe(false);
    expect(policy.checkAddress('8.8.8.8', 'echo')).toBe(true);
  });

  test('deny wins, by address, keyword and name', () => {
    const everything = ['0.0.0.0/0', '::/0', 'single-label', 'loopback', '*.test'];
    const policy = createDestinationPolicy({
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
    const policy = createDestinationPolicy({ schemes: ['https'], allow: ['0.0.0.0/0', '::/0', 'm.test'], deny: [] });
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
    expect(policy.checkAddress('10.0.0.1')).toBe(true); // the control: the list is open
  });

  test('a NAT64 prefix that is allowed is judged by the address behind it', () => {
    const policy = createDestinationPolicy({
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

describe('settings', () => {
  test.each([
    ['DESTINATION_ALLOW', '10.0.0.0/33'],
    ['DESTINATION_ALLOW', '10.0.0/8'],
    ['DESTINATION_ALLOW', '127.1'],
    ['DESTINATION_ALLOW', '*'],
    ['DESTINATION_ALLOW', 'a.*.com'],
    ['DESTINATION_ALLOW', 'https://example.com'],
    ['DESTINATION_ALLOW', 'example.com:443'],
    ['DESTINATION_DENY', '*.'],
    ['DESTINATION_DENY', 'a b'],
    ['DESTINATION_DENY', '::1/129'],
    ['DESTINATION_SCHEMES', 'ftp'],
  ])('%s=%s stops the start and is named', (setting, entry) => {
    const config = { DESTINATION_SCHEMES: 'https', DESTINATION_ALLOW: '', DESTINATION_DENY: '', [setting]: `${entry}` };
    expect(() => destinationPolicyFrom(config)).toThrow(setting);
    expect(() => destinationPolicyFrom(config)).toThrow(`"${entry}"`);
  });

  test('lists are comma separated, with space around', () => {
    const policy = destinationPolicyFrom({
      DESTINATION_SCHEMES: 'http, https',
      DESTINATION_ALLOW: ' loopback ,, *.Bücher.test, ',
      DESTINATION_DENY: '',
    });
    expect(policy.checkUrl('http://127.0.0.1/').ok).toBe(true);
    expect(policy.checkAddress('10.0.0.1', 'a.xn--bcher-kva.test')).toBe(true);
  });

  test('the defaults are the closed ones', () => {
    const policy = destinationPolicyFrom({
      DESTINATION_SCHEMES: destinationSettings.DESTINATION_SCHEMES.default,
      DESTINATION_ALLOW: destinationSettings.DESTINATION_ALLOW.default,
      DESTINATION_DENY: destinationSettings.DESTINATION_DENY.default,
    });
    expect(policy.checkUrl('http://example.com/').ok).toBe(false);
    expect(policy.checkUrl('https://127.0.0.1/').ok).toBe(false);
    expect(policy.checkUrl('https://example.com/').ok).toBe(true);
  });
});
