import { createSecretKey, randomBytes } from 'node:crypto';
import type { DataKey } from '../keys/data-keys.ts';
import { decrypt, decryptSealed, encrypt, readSealed, type SecretPlace } from './cipher.ts';
import { IntegrityError } from './integrity-error.ts';

const place: SecretPlace = { tenantId: 'tenant-1', recordId: 'token-1', field: 'tokens.data' };
const dataKey = (version = 1): DataKey => ({ version, key: createSecretKey(randomBytes(32)) });

describe('encrypt and decrypt', () => {
  test.each(['', '4242424242424242', 'é😀', 'x'.repeat(1_000_000)])('open in their place what they closed', (text) => {
    const key = dataKey();
    const ciphertext = encrypt(key, place, Buffer.from(text));
    expect(decrypt(key.key, place, ciphertext).toString()).toBe(text);
    if (text.length > 3) expect(ciphertext.includes(text.slice(0, 16))).toBe(false);
  });

  test('a ciphertext is format, key version, nonce, tag, text; nonces differ', () => {
    const key = dataKey(7);
    const [one, two] = [encrypt(key, place, Buffer.from('abc')), encrypt(key, place, Buffer.from('abc'))];
    expect(one).toHaveLength(1 + 4 + 12 + 16 + 3);
    expect([one.readUInt8(0), one.readUInt32BE(1)]).toEqual([1, 7]);
    expect(one.subarray(5, 17).equals(two.subarray(5, 17))).toBe(false);
  });

  test.each<[string, Partial<SecretPlace>]>([
    ['another record', { recordId: 'token-2' }],
    ['another Tenant', { tenantId: 'tenant-2' }],
    ['another field', { field: 'proxies.key' }],
  ])('does not open in the place of %s', (_, other) => {
    const key = dataKey();
    const ciphertext = encrypt(key, place, Buffer.from('secret'));
    expect(() => decrypt(key.key, { ...place, ...other }, ciphertext)).toThrow(IntegrityError);
  });

  test('what is kept for many openings opens each time, in its place only, and pins nothing of the pool of buffers', () => {
    const key = dataKey();
    const ciphertext = encrypt(key, place, Buffer.from('secret'));
    const sealed = readSealed(place, ciphertext);
    for (let i = 0; i < 3; i++) expect(decryptSealed(key.key, sealed).toString()).toBe('secret');
    const elsewhere = readSealed({ ...place, recordId: 'token-2' }, ciphertext);
    expect(() => decryptSealed(key.key, elsewhere)).toThrow(IntegrityError);
    expect(sealed.additionalData.buffer.byteLength).toBe(sealed.additionalData.length);
    expect(sealed.nonce.buffer).toBe(ciphertext.buffer);
  });

  test('does not open under another key', () => {
    const ciphertext = encrypt(dataKey(), place, Buffer.from('secret'));
    expect(() => decrypt(dataKey().key, place, ciphertext)).toThrow(IntegrityError);
  });

  test('no bit can be flipped, none added, none taken away', () => {
    const key = dataKey();
    const ciphertext = encrypt(key, place, Buffer.from('secret'));
    for (let bit = 0; bit < ciphertext.length * 8; bit++) {
      const flipped = Buffer.from(ciphertext);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => decrypt(key.key, place, flipped)).toThrow(IntegrityError);
    }
    expect(() => decrypt(key.key, place, Buffer.concat([ciphertext, Buffer.of(0)]))).toThrow(IntegrityError);
    for (let length = 0; length < ciphertext.length; length++) {
      expect(() => decrypt(key.key, place, ciphertext.subarray(0, length))).toThrow(IntegrityError);
    }
  });

  test('an integrity error tells where, and nothing of what', () => {
    const key = dataKey();
    const ciphertext = encrypt(key, place, Buffer.from('hunter2'));
    expect(() => decrypt(key.key, { ...place, recordId: 'token-2' }, ciphertext)).toThrow(
      'Vault integrity: tokens.data of token-2, Tenant tenant-1 does not open with key version 1',
    );
  });
});
