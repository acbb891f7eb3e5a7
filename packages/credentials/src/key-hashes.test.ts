import { hashKeyText, readPepper } from './api-key.ts';
import { KeyHashes } from './key-hashes.ts';

const pepper = readPepper('a pepper of at least 32 characters');

test('every key has its own hash, also after others of the connection', () => {
  const hashes = new KeyHashes();
  for (const key of ['a', 'b', 'a', 'b', 'c', 'a', 'a', 'c', 'b', '']) {
    expect(hashes.of(pepper, key)).toBe(hashKeyText(pepper, key));
  }
});
