import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addLeaf,
  inclusionRanges,
  joinSubtrees,
  leafHash,
  leafVersion,
  originOf,
  readFrontier,
  rootOf,
  signCheckpoint,
  toWitnessEntry,
  type VerifyFiles,
  verifierLine,
  verifyFiles,
} from './index.ts';

const origin = originOf('sluice.example', randomUUID());
const [old, current] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
// Some line readers end lines at U+2028 and U+2029, which may stand in the id of a token
const odd = 'line\u2028paragraph\u2029end';
const rows = Array.from({ length: 8 }, (_, i) => ({
  id: `row-${i}`,
  at: `2026-11-0${i + 1}T00:00:00.000Z`,
  operation: 'use',
  detail: { token_ids: Array(i === 6 ? 9000 : 1).fill(odd) }, // one row is longer than what is read at a time
}));
const hashes = rows.map((row) => leafHash(row, leafVersion));
const exported = rows.map((row, i) => ({
  ...row,
  leaf_version: 1,
  leaf_index: i,
  leaf_hash: hashes[i]?.toString('hex'),
}));

function frontierOf(size: number) {
  let frontier = readFrontier(0, Buffer.alloc(0));
  for (const hash of hashes.slice(0, size)) frontier = addLeaf(frontier, hash);
  return frontier;
}

function checkpointOf(size: number, { privateKey } = current, dropped?: number): string {
  return signCheckpoint({ origin, size, root: rootOf(frontierOf(size)), dropped }, privateKey);
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function verify(texts: Partial<Record<keyof VerifyFiles, string>> = {}, dropped?: number) {
  const all: Partial<Record<keyof VerifyFiles, string>> = {
    export: linesOf(exported),
    key: [old, current].map(({ publicKey }) => `${verifierLine({ name: origin, publicKey })}\n`).join(''),
    ...('proofs' in texts ? {} : { checkpoint: checkpointOf(8) }),
    ...texts,
  };
  const files: Record<string, string> = {};
  for (const [name, text] of Object.entries(all)) {
    files[name] = join(folder, name);
    await writeFile(join(folder, name), text);
  }
  return verifyFiles({ ...files, ...(files.since && { since: [files.since] }), dropped } as unknown as VerifyFiles);
}

const linesOf = (of: readonly object[]) => of.map((one) => `${JSON.stringify(one)}\n`).join('');

test('says up to where the log is complete, under an old key too, and that older and witnessed checkpoints agree', async () => {
  expect(await verify()).toEqual({ isGood: true, text: 'Complete and unchanged up to 8' });
  const witness = [3, 7].map((size) => toWitnessEntry(checkpointOf(size))).join('');
  expect(await verify({ since: checkpointOf(5, old), witness })).toEqual({
    isGood: true,
    text: 'Complete and unchanged up to 8; 3 further checkpoints agree',
  });
});

test('lines end at line feeds alone, after a carriage return too, and the last one may lack its own', async () => {
  for (const text of [linesOf(exported).replaceAll('\n', '\r\n'), linesOf(exported).trimEnd()]) {
    expect(await verify({ export: text })).toEqual({ isGood: true, text: 'Complete and unchanged up to 8' });
  }
});

test('says which row differs, and what the witness has more of', async () => {
  const changed = exported.map((row, i) => (i === 3 ? { ...row, id: '\u001b[2J' } : row));
  expect(await verify({ export: linesOf(changed) })).toEqual({
    isGood: false,
    text: 'The first row that differs from its hash is row 3 (�[2J)',
  });
  const restored = { export: linesOf(exported.slice(0, 5)), checkpoint: checkpointOf(5) };
  expect((await verify(restored)).isGood).toBe(true); // control: without the witness nobody can tell
  expect(await verify({ ...restored, witness: toWitnessEntry(checkpointOf(8)) })).toMatchObject({ isGood: false });
});

test('rows that retention dropped are said to be missing, where a signed number or the caller agrees', async () => {
  const cutAt = (count: number) => {
    const hashesBefore = frontierOf(count).hashes.map((hash) => hash.toString('base64'));
    return linesOf([{ dropped: count, hashes: hashesBefore }, ...exported.slice(count)]);
  };
  const says = (missing: string, day: number) => ({
    isGood: true,
    text: `Unchanged up to 8. Only ${missing} missing, ` + `dropped by retention as of 2026-11-0${day}T00:00:00.000Z`,
  });
  expect(await verify({ export: cutAt(3), checkpoint: checkpointOf(8, current, 3) })).toEqual(
    says('the first 3 rows are', 4),
  );
  expect(await verify({ export: cutAt(1), checkpoint: checkpointOf(8, current, 1) })).toEqual(
    says('the first row is', 2),
  );
  expect(await verify({ export: cutAt(3) }, 3)).toEqual(says('the first 3 rows are', 4));
  expect(await verify({ export: cutAt(3), checkpoint: checkpointOf(8, current, 0) })).toEqual({
    isGood: false,
    text: expect.stringContaining('the first 3 rows of the ledger, but the newest checkpoint says 0'),
  });
  const witness = toWitnessEntry(checkpointOf(8, current, 0)) + toWitnessEntry(checkpointOf(5, current, 0));
  const known = { checkpoint: checkpointOf(8, current, 3), since: checkpointOf(6), witness };
  expect((await verify({ export: cutAt(3), ...known })).text).toMatch(
    /dropped by retention as of \S+; 3 further checkpoints agree$/,
  );
  expect(await verify(known)).toEqual({
    isGood: true,
    text: 'Complete and unchanged up to 8; 3 further checkpoints agree',
  });
});

test('a checkpoint that no key of the file has signed is an error, and so is a file that is not there', async () => {
  const key = `${verifierLine({ name: origin, publicKey: old.publicKey })}\n`;
  await expect(verify({ key })).rejects.toThrow('No key of the key file has signed the checkpoint');
  await expect(verify({ key: '\n' })).rejects.toThrow('The key file holds no key');
  await verify();
  const there = { export: join(folder, 'none'), key: join(folder, 'key'), checkpoint: join(folder, 'checkpoint') };
  await expect(verifyFiles(there)).rejects.toThrow(`${there.export} cannot be read: ENOENT`);
  await expect(verifyFiles({ ...there, key: there.export })).rejects.toThrow('none cannot be read: ENOENT');
});

test('an older checkpoint of another ledger is an error, also where the key file is for both', async () => {
  const other = originOf('sluice.example', randomUUID());
  const key = [origin, other].map((name) => `${verifierLine({ name, publicKey: current.publicKey })}\n`).join('');
  const since = signCheckpoint({ origin: other, size: 3, root: Buffer.alloc(32) }, current.privateKey);
  await expect(verify({ key, since })).rejects.toThrow(`--since is a checkpoint of ${other}`);
  expect((await verify({ key, since: checkpointOf(3) })).isGood).toBe(true);
});

test('a checkpoint that only the key of another ledger has signed is an error, where the key file is for both', async () => {
  const other = { name: originOf('other.example', randomUUID()), publicKey: old.publicKey };
  const key = [{ name: origin, publicKey: current.publicKey }, other].map((one) => `${verifierLine(one)}\n`).join('');
  const body = checkpointOf(8).split('\n\n')[0];
  const byOther = signCheckpoint({ origin: other.name, size: 8, root: Buffer.alloc(32) }, old.privateKey);
  const keyId = Buffer.from(byOther.split(' ').at(-1) ?? '', 'base64').subarray(0, 4);
  const signature = Buffer.concat([keyId, sign(null, Buffer.from(`${body}\n`), old.privateKey)]);
  const checkpoint = `${body}\n\n— ${other.name} ${signature.toString('base64')}\n`;
  await expect(verify({ key, checkpoint })).rejects.toThrow(`No key of ${origin} has signed the checkpoint`);
});

describe('row by row', () => {
  const proofOf = (index: number) => ({
    leaf_index: index,
    tree_size: 8,
    leaf_hash: hashes[index]?.toString('hex'),
    hashes: inclusionRanges(index, 8).map(({ start, end }) => {
      const level = hashes.slice(start, end);
      return rootOfPower(level).toString('base64');
    }),
    checkpoint: checkpointOf(8),
  });
  const [two, five] = [exported[2] as object, exported[5] as object];

  test('rows of a filtered export are unchanged, each by its proof', async () => {
    const proofs = linesOf([5, 2, 7].map(proofOf));
    const both = await verify({ export: linesOf([two, five]), proofs });
    expect(both).toMatchObject({ isGood: true, text: expect.stringContaining('2 rows are unchanged') });
    const one = await verify({ export: linesOf([two]), proofs });
    expect(one).toMatchObject({
      isGood: true,
      text: expect.stringContaining('1 row is unchanged, as its proof shows.'),
    });
  });

  test.each<[string, object[], object[], RegExp]>([
    ['a row that was changed', [two, { ...five, operation: 'read' }], [2, 5].map(proofOf), /Row 5 .* differs/],
    ['a version that is no number', [{ ...two, leaf_version: '1' }], [proofOf(2)], /Row 2 .* differs/],
    [
      'a stated hash that was changed',
      [{ ...two, leaf_hash: `${hashes[2]?.toString('hex')} changed` }],
      [proofOf(2)],
      /Row 2 .* differs/,
    ],
    [
      'a proof whose hash was changed',
      [two],
      [{ ...proofOf(2), leaf_hash: [proofOf(2).leaf_hash] }],
      /row 2: it names no leaf/,
    ],
    [
      'a proof whose path was changed',
      [two],
      [{ ...proofOf(2), hashes: proofOf(2).hashes.map((hash) => `${hash} changed`) }],
      /row 2: it does not lead/,
    ],
    ['a row without a proof', [two, five], [proofOf(2)], /Row 5 .* has no proof/],
    ['a row at another place', [{ ...two, leaf_index: 5 }], [proofOf(5)], /Row 5 .* differs/],
    ['a row twice', [two, two], [proofOf(2)], /Row 2 .* is in the export twice/],
    ...['0', null, 0.5, 'x'].map((leaf_index): [string, object[], object[], RegExp] => [
      `a row at the place ${JSON.stringify(leaf_index)}`,
      [{ ...exported[0], leaf_index }],
      [{ ...proofOf(0), leaf_index }],
      /names no leaf/,
    ]),
    ['a proof that was changed', [two], [{ ...proofOf(2), hashes: proofOf(3).hashes }], /row 2: it does not lead/],
    ['a checkpoint of another size', [two], [{ ...proofOf(2), checkpoint: checkpointOf(7) }], /row 2: .* another size/],
    ['a checkpoint that is not signed', [two], [{ ...proofOf(2), checkpoint: 'x' }], /row 2: .* no signature/],
  ])('%s is told', async (_name, lines, proofs, reason) => {
    const verdict = await verify({ export: linesOf(lines), proofs: linesOf(proofs) });
    expect(verdict).toEqual({ isGood: false, text: expect.stringMatching(reason) });
  });
});

function rootOfPower(level: readonly Buffer[]): Buffer {
  const [first] = level;
  if (first && level.length === 1) return first;
  const middle = level.length / 2;
  return joinSubtrees([rootOfPower(level.slice(0, middle)), rootOfPower(level.slice(middle))]);
}
