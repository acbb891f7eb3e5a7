import { nonceBytes, randomNonce } from './nonce.ts';

test('no nonce comes twice, and none changes when the next ones are drawn', () => {
  const nonces = Array.from({ length: 5000 }, randomNonce);
  const texts = nonces.map((nonce) => nonce.toString('hex'));
  for (let i = 0; i < 5000; i++) randomNonce();

  expect(nonces.every((nonce) => nonce.length === nonceBytes)).toBe(true);
  expect(new Set(texts).size).toBe(5000);
  expect(nonces.map((nonce) => nonce.toString('hex'))).toEqual(texts);
});
