import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { originOf, readVerifierLine, readWitnessFile, signCheckpoint, toWitnessEntry, verifierLine } from './index.ts';

const origin = originOf('sluice.example', randomUUID());
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const verifiers = [readVerifierLine(verifierLine({ name: origin, publicKey }))];
const entryOf = (size: number, name = origin, key = privateKey) =>
  toWitnessEntry(signCheckpoint({ origin: name, size, root: Buffer.alloc(32, size), dropped: size - 1 }, key));
const read = (text: string) => readWitnessFile(text.split('\n'), verifiers);

test('gives the checkpoints of one ledger in the order of the file, and passes over those of others', async () => {
  const other = originOf('sluice.example', randomUUID());
  const text = [entryOf(3), entryOf(70, other), entryOf(5), entryOf(5)].join('');
  const { checkpoints, cutOff } = await read(text);
  expect(checkpoints.map(({ size, root, dropped }) => [size, root[0], dropped])).toEqual([
    [3, 3, 2],
    [5, 5, 4],
    [5, 5, 4],
  ]);
  expect([checkpoints[0]?.origin, cutOff]).toEqual([origin, 0]);
  expect(await read('')).toEqual({ checkpoints: [], cutOff: 0 });
});

test('a note that was cut off anywhere costs none but itself, where the next one begins a line', async () => {
  const whole = Buffer.from(entryOf(4));
  for (let end = 1; end < whole.length - 2; end += 1) {
    const { checkpoints, cutOff } = await read(`${entryOf(3)}${whole.subarray(0, end)}\n\n${entryOf(5)}`);
    expect([end, checkpoints.map(({ size }) => size), cutOff]).toEqual([end, [3, 5], 1]);
  }
});

test('a note that was changed, or signed by another key, is refused with its line', async () => {
  const strange = generateKeyPairSync('ed25519').privateKey;
  await expect(read(entryOf(3) + entryOf(4).replace('\n4\n', '\n5\n'))).rejects.toThrow('The note at line 8');
  await expect(read(entryOf(3) + entryOf(4, origin, strange))).rejects.toThrow('No key of the key file');
});
