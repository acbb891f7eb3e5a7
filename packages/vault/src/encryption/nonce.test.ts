import { nonceBytes, randomNonce } from './nonce.ts';

test('no nonce comes twice, and none changes when the next ones are drawn', () => {
  const nonces = Array.from({ length: 5000 }, randomNonce);
  const texts = nonces.map((nonce) => nonce.toString('hex'));
  for (let i = 0; i < 5000; i++) randomNonce();

  expect(nonces.every((nonce) => nonce.length === nonceBytes)).toBe(true);
  expect(new Set(texts).size).toBe(5000);
  expect(nonces.map((nonce) => nonce.toString('hex'))).toEqual(texts);
});

test('every bit of a nonce is set about half of the time', () => {
  const draws = 4000;
  const counts = Array(nonceBytes * 8).fill(0);
  for (let i = 0; i < draws; i++) {
    randomNonce().forEach((byte, at) => {
      for (let bit = 0; bit < 8; bit++) counts[at * 8 + bit] += (byte >> bit) & 1;
    });
  }
  // Seven standard deviations: one false alarm in 10^10 runs.
  const margin = 7 * Math.sqrt(draws / 4);
  expect(counts.filter((count) => Math.abs(count - draws / 2) > margin)).toEqual([]);
});
