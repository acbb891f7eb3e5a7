import { destinationPolicyFrom, destinationSettings } from './index.ts';

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
