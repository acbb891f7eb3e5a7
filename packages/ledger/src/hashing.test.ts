import crypto from 'node:crypto';
import * as hashing from './hashing.ts';

const [left, right] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const made = ({ emptyRoot, hashLeaf, hashNode }: typeof hashing) =>
  [emptyRoot, hashLeaf('{"é":"💳"}'), hashNode(left, right)].map((hash) => hash.toString('hex'));

test('hashes are those of RFC 9162 section 2.1.1', () => {
  const sha256 = (...parts: (string | Buffer)[]) => {
    const hash = crypto.createHash('sha256');
    for (const part of parts) hash.update(part);
    return hash.digest('hex');
  };
  expect(made(hashing)).toEqual([sha256(), sha256('\0', '{"é":"💳"}'), sha256('\u0001', left, right)]);
});

test('Node before 20.12, which has no crypto.hash, makes the same hashes', async () => {
  const { hash } = crypto;
  const expected = made(hashing);
  Reflect.deleteProperty(crypto, 'hash');
  try {
    expect(crypto.hash).toBeUndefined();
    const path = './hashing.ts?before-20.12';
    expect(made((await import(path)) as typeof hashing)).toEqual(expected);
  } finally {
    crypto.hash = hash;
  }
});
