import { createHash, createSign, getHashes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slow } from '@sluice/testing';
import { cryptoOperations } from './crypto.ts';
import { derivationOperations } from './derivation.ts';
import { digestName } from './parameters.ts';

const longName = 'id-rsassa-pkcs1-v1_5-with-sha3-512';
/** Another for each number. */
function spelling(number: number): string {
  let rest = number;
  return longName.replace(/[a-z]/g, (letter) => {
    const isUpper = rest % 2 === 1;
    rest = Math.floor(rest / 2);
    return isUpper ? letter.toUpperCase() : letter;
  });
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

function growth(nameOf: (number: number) => string): number {
  const startBytes = heapBytes();
  for (let number = 0; number < 25_000; number += 1) {
    try {
      cryptoOperations.hash(nameOf(number), '', undefined);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_CRYPTO_INVALID_DIGEST' });
    }
  }
  return heapBytes() - startBytes;
}

slow('2.6 s').each([
  ['in many cases', spelling],
  ['that a NUL ends', (number: number) => `sha256\0${number}`],
])('names of hashes %s take no memory of the thread', (_, nameOf) => {
  cryptoOperations.hash(longName, '', undefined);
  expect(growth(nameOf)).toBeLessThan(2 ** 20);
});

test('10,000 spellings reach Node.js as one', () => {
  const names = Array.from({ length: 10_000 }, (_, number) => spelling(number));
  expect(new Set(names).size).toBe(10_000);
  expect(new Set(names.map(digestName))).toEqual(new Set([longName]));
});

test('Node.js knows each of its hashes by that name, and others too', () => {
  const options = { outputLength: 16 };
  const shake = /^shake/i;
  for (const name of [...getHashes(), 'SHA-256', 'SHA2-512/256', '2.16.840.1.101.3.4.2.1']) {
    const given = shake.test(name) ? options : {};
    expect(createHash(digestName(name), given).digest('hex')).toBe(createHash(name, given).digest('hex'));
    createSign(digestName(name));
  }
});

test.each(['sha256 ', 'sha256\0', 'sha\x12\x15\x16', 'sha256:md5', 'ſha256'])('the name %j is refused', (name) => {
  expect(() => cryptoOperations.hmac(name, '', '')).toThrow(`Invalid digest: ${name}`);
  const { pbkdf2 } = derivationOperations({ spend: () => {}, hold: () => {} });
  expect(() => pbkdf2('', '', 1, 1, name)).toThrow(`Invalid digest: ${name}`);
});
