import { crc32 } from 'node:zlib';
import {
  generateApiKey,
  generateProxyKey,
  hashKey,
  isWellFormedApiKey,
  isWellFormedProxyKey,
  lastFourOf,
  readPepper,
} from './index.ts';

describe('API keys', () => {
  test('have the documented form', () => {
    expect(generateApiKey('live', 'private')).toMatch(/^svc_live_prv_[0-9A-Za-z]{49}$/);
    expect(generateApiKey('local', 'public')).toMatch(/^svc_local_pub_/);
    expect(generateApiKey('local', 'management')).toMatch(/^svc_local_mgt_/);
  });

  test('end in the CRC-32 of all before, so that a scanner can verify a hit offline', () => {
    const key = generateApiKey('live', 'private');
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    expect(value).toBe(crc32(key.slice(0, -6)));
  });

  test('are recognized by the last four characters before their checksum', () => {
    expect(lastFourOf(`svc_test_prv_${'a'.repeat(39)}x9Qa123456`)).toBe('x9Qa');
    const key = generateApiKey('live', 'management');
    expect(key.slice(-10)).toBe(lastFourOf(key) + key.slice(-6));
  });

  test('any single mistyped character is noticed without a look-up', () => {
    const key = generateApiKey('live', 'management');
    expect(isWellFormedApiKey(key)).toBe(true);
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === 'x' ? 'y' : 'x';
      expect(isWellFormedApiKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false);
    }
  });

  test.each([
    '',
    'svc_',
    `svc_live_prv_${'0'.repeat(48)}`,
    `${generateApiKey('live', 'private')} `,
    `x${generateApiKey('live', 'private')}`,
  ])('is not a key: %p', (text) => expect(isWellFormedApiKey(text)).toBe(false));

  test('differ, and so do their hashes; another pepper gives another hash', () => {
    const [a, b] = [generateApiKey('live', 'private'), generateApiKey('live', 'private')];
    const pepper = readPepper('p'.repeat(32));
    expect(a).not.toBe(b);
    expect(hashKey(pepper, a)).toHaveLength(32);
    expect(hashKey(pepper, a)).toEqual(hashKey(pepper, a));
    expect(hashKey(pepper, a)).not.toEqual(hashKey(pepper, b));
    expect(hashKey(readPepper('q'.repeat(32)), a)).not.toEqual(hashKey(pepper, a));
  });
});

test('proxy keys are 32 base 62 characters', () => {
  expect(isWellFormedProxyKey(generateProxyKey())).toBe(true);
  expect(isWellFormedProxyKey(`${generateProxyKey()}x`)).toBe(false);
  expect(generateProxyKey()).not.toBe(generateProxyKey());
});
