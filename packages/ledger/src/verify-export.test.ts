import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { addLeaf, emptyFrontier, rootOf } from './frontier.ts';
import {
  type Checkpoint,
  leafHash,
  leafVersion,
  originOf,
  readVerifierLine,
  signCheckpoint,
  verifierLine,
  verifyCheckpoint,
  verifyExport,
} from './index.ts';

const origin = originOf('sluice.example', randomUUID());

type Row = Record<string, unknown>;

const sampleRows = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `row-${i}`,
    operation: 'use',
    detail: { token_ids: [`t${i}`], ß: 1e21, zero: 0 },
  }));

const exported = (rows: readonly Row[]) =>
  rows.map((row, leaf_index) => ({
    ...row,
    leaf_version: leafVersion,
    leaf_index,
    leaf_hash: leafHash(row, leafVersion).toString('hex'),
  }));

function checkpointOf(rows: readonly Row[]): Checkpoint {
  let frontier = emptyFrontier;
  for (const row of rows) frontier = addLeaf(frontier, leafHash(row, leafVersion));
  return { origin, size: frontier.size, root: rootOf(frontier) };
}

const verify = (rows: readonly object[], checkpoint: Checkpoint, since: Checkpoint[] = [], dropped?: number) =>
  verifyExport(
    rows.map((row) => JSON.stringify(row)),
    { checkpoint, since, dropped },
  );

const rows = sampleRows(100);
const checkpoint = checkpointOf(rows);
const whole = exported(rows);
const changed = (index: number, part: Row) => whole.map((row, i) => (i === index ? { ...row, ...part } : row));
/** Forges rows as the owner of the database could: hashes and positions fit the changed rows. */
const forged = (from: readonly Row[]) =>
  exported(from.map(({ leaf_index: _, leaf_hash: __, leaf_version: ___, ...row }) => row));

test('a whole export is complete and unchanged, also one with rows after the checkpoint, and with members in another order', async () => {
  const clean = { isWhole: true, size: 100, dropped: 0, beyond: 0, unchecked: 0 };
  expect(await verify(whole, checkpoint, [checkpointOf(rows.slice(0, 40))])).toEqual(clean);
  expect(await verify(exported(sampleRows(103)), checkpoint)).toEqual({ ...clean, beyond: 3 });
  const reversed = whole.map((row) => Object.fromEntries(Object.entries(row).reverse()));
  expect(await verify(reversed, checkpoint)).toEqual(clean);
});

test.each<[string, object[], RegExp]>([
  [
    'a row that was changed',
    changed(41, { operation: 'read' }),
    /first row that differs from its hash is row 41 \(row-41\)/,
  ],
  ['a row whose detail was changed', changed(41, { detail: { token_ids: [] } }), /differs from its hash is row 41 /],
  ['a row with half of a surrogate pair', changed(41, { operation: '\ud800' }), /differs from its hash is row 41 /],
  ['a row that was deleted', whole.filter((_, i) => i !== 41), /Row 41 is missing or moved/],
  [
    'rows that were swapped',
    [...whole.slice(0, 41), whole[42] ?? {}, whole[41] ?? {}, ...whole.slice(43)],
    /Row 41 is missing or moved/,
  ],
  [
    'a row that was added',
    [...whole.slice(0, 41), { ...whole[3], leaf_index: 41 }, ...whole.slice(41)],
    /Row 42 is missing or moved|tree was changed/,
  ],
  ['an end that was cut off', whole.slice(0, 90), /Row 90 is missing/],
  [
    'a changed row with a hash that fits',
    forged(changed(41, { operation: 'read' })),
    /The tree was changed between the checkpoints of 40 and 100/,
  ],
  [
    'a deleted row, all others renumbered',
    [...forged(whole.filter((_, i) => i !== 41)), ...whole.slice(99)],
    /between the checkpoints of 40 and 100/,
  ],
  [
    'rows in another order with hashes that fit',
    forged([...rows].reverse()),
    /The tree was changed before the checkpoint of 40/,
  ],
])('%s is told, with the place', async (_name, tampered, reason) => {
  const verdict = await verify(tampered, checkpoint, [checkpointOf(rows.slice(0, 40))]);
  expect(verdict).toEqual({ isWhole: false, reason: expect.stringMatching(reason) });
});

/** The first line of an export in place of its first rows. Anybody who has the rows can compute it. */
function headOf(count: number) {
  let frontier = emptyFrontier;
  for (const row of rows.slice(0, count)) frontier = addLeaf(frontier, leafHash(row, leafVersion));
  return { dropped: count, hashes: frontier.hashes.map((hash) => hash.toString('base64')) };
}

test('where retention dropped rows, it starts from their subtrees', async () => {
  const head = headOf(37);
  const older = [checkpointOf(rows.slice(0, 20)), { ...checkpointOf(rows.slice(0, 37)), dropped: 20 }];
  expect(await verify([head, ...whole.slice(37)], { ...checkpoint, dropped: 37 }, older)).toEqual({
    isWhole: true,
    size: 100,
    dropped: 37,
    beyond: 0,
    unchecked: 1,
  });
  for (const wrong of [
    { ...head, hashes: [...head.hashes].reverse() },
    { ...head, hashes: [] },
    { dropped: -1, hashes: [] },
    { dropped: 128, hashes: [head.hashes[0]] }, // as if all rows had been dropped, beyond any checkpoint
  ]) {
    const stated = { ...checkpoint, dropped: wrong.dropped };
    expect(await verify([wrong, ...whole.slice(37)], stated)).toMatchObject({ isWhole: false });
  }
});

describe('how many rows retention has dropped is what the newest checkpoint says', () => {
  const cut = [headOf(37), ...whole.slice(37)];
  const stating = (dropped: number, size = 100) => ({ ...checkpointOf(rows.slice(0, size)), dropped });
  const isWhole = { isWhole: true, size: 100, dropped: 37 };

  test.each<[string, Checkpoint, RegExp]>([
    ['nothing was dropped', stating(0), /the first 37 rows of the ledger, but the newest checkpoint says 0\. /],
    ['fewer were dropped', stating(36), /the first 37 rows of the ledger, but the newest checkpoint says 36\. /],
    ['more were dropped', stating(38), /the first 37 rows of the ledger, but the newest checkpoint says 38\. /],
    [
      'nothing about it',
      checkpoint,
      /the first 37 rows of the ledger, but the newest checkpoint does not say how many .*--dropped 37$/,
    ],
  ])('an export that begins at row 37 fails where it says that %s', async (_name, newest, reason) => {
    expect(await verify(cut, newest)).toEqual({ isWhole: false, reason: expect.stringMatching(reason) });
    expect(await verify(whole, newest)).toEqual({ ...isWhole, dropped: 0, beyond: 0, unchecked: 0 }); // nothing is missing
    expect(await verify(cut, stating(37))).toMatchObject(isWhole); // control
  });

  test('a number that is known otherwise counts where no checkpoint says one, and never against it', async () => {
    expect(await verify(cut, checkpoint, [], 37)).toMatchObject(isWhole);
    expect(await verify(whole, checkpoint, [], 37)).toMatchObject({ ...isWhole, dropped: 0 });
    const other = {
      isWhole: false,
      reason: expect.stringMatching(/the first 37 rows of the ledger, but --dropped says 36$/),
    };
    expect(await verify(cut, checkpoint, [], 36)).toEqual(other);
    const against = '--dropped says that retention has dropped 37 rows, but the newest checkpoint says 0';
    expect(await verify(cut, stating(0), [], 37)).toEqual({ isWhole: false, reason: against });
  });

  test('older checkpoints may say less, or nothing, and not more', async () => {
    for (const since of [stating(0, 90), stating(37, 90), checkpointOf(rows.slice(0, 90))]) {
      expect(await verify(cut, stating(37), [since])).toMatchObject(isWhole);
    }
    expect(await verify(cut, stating(37), [stating(38, 90)])).toEqual({
      isWhole: false,
      reason: 'The checkpoint of 90 rows says that retention has dropped 38 rows, but the newest checkpoint says 37',
    });
  });

  test('the newest of one size says most, and one of --since or a witness may be the newest', async () => {
    const signedBefore = [stating(0), stating(20), checkpoint];
    expect(await verify(cut, stating(37), signedBefore)).toMatchObject(isWhole);
    expect(await verify(cut, stating(0, 90), [stating(37)])).toMatchObject(isWhole);
    expect(await verify(cut, stating(37, 90), [stating(0)])).toMatchObject({ isWhole: false });
  });
});

test('a row that says that rows were dropped is no beginning, and hashes of dropped rows are base64 and nothing more', async () => {
  const made = { id: 'made up', operation: 'delete', dropped: 0, hashes: [] };
  expect(await verify([made, ...whole], checkpoint)).toEqual({
    isWhole: false,
    reason: 'Row 0 is missing or moved: row undefined stands in its place',
  });
  const hashes = [checkpointOf(rows.slice(0, 64)).root.toString('base64')];
  const stated = { ...checkpoint, dropped: 64 };
  expect(await verify([{ dropped: 64, hashes }, ...whole.slice(64)], stated)).toMatchObject({ isWhole: true });
  for (const changed of [[`${hashes[0]} changed`], [hashes], [hashes[0]?.replace('=', '')], ['', ...hashes]]) {
    expect(await verify([{ dropped: 64, hashes: changed }, ...whole.slice(64)], stated)).toEqual({
      isWhole: false,
      reason: 'Line 1 does not hold the hashes of 64 dropped rows',
    });
  }
});

test('an old log that was restored is told by a newer checkpoint, and so are two that contradict each other', async () => {
  const old = checkpointOf(rows.slice(0, 90));
  const restored = whole.slice(0, 90);
  expect(await verify(restored, old)).toMatchObject({ isWhole: true, size: 90 });
  expect(await verify(restored, old, [checkpoint])).toEqual({
    isWhole: false,
    reason: 'Row 90 is missing: the export ends before row 90, but the newest checkpoint has 100 rows',
  });
  const other = checkpointOf([...rows.slice(0, 99), ...sampleRows(1)]);
  expect(await verify(whole, checkpoint, [other])).toEqual({
    isWhole: false,
    reason: 'There are two checkpoints of 100 rows that contradict each other',
  });
});

describe('a checkpoint', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const verifier = readVerifierLine(verifierLine({ name: origin, publicKey }));
  const note = signCheckpoint(checkpoint, privateKey);

  test('is a signed note of three lines, which opens with the key of its origin', () => {
    const signed = note.split('\n');
    expect(signed.slice(0, 4)).toEqual([origin, '100', checkpoint.root.toString('base64'), '']);
    expect(signed[4]).toMatch(new RegExp(`^— ${origin} [A-Za-z0-9+/=]+$`));
    expect(verifyCheckpoint(note, [verifier])).toEqual(checkpoint);
  });

  test('says in an extension line, which is signed, how many rows were dropped; other extension lines are passed over', () => {
    const stated = { ...checkpoint, dropped: 37 };
    const text = signCheckpoint(stated, privateKey);
    expect(text.split('\n').slice(0, 5)).toEqual([...note.split('\n').slice(0, 3), 'dropped 37', '']);
    expect(verifyCheckpoint(text, [verifier])).toEqual(stated);
    expect(() => verifyCheckpoint(text.replace('dropped 37', 'dropped 38'), [verifier])).toThrow('No key');
    expect(() => verifyCheckpoint(text.replace('dropped 37\n', ''), [verifier])).toThrow('No key');
    const extended = (lines: string) => signedAgain(`${note.split('\n').slice(0, 3).join('\n')}\n${lines}\n`);
    expect(verifyCheckpoint(extended('other 1'), [verifier])).toEqual(checkpoint);
    expect(verifyCheckpoint(extended('other 1\ndropped 37'), [verifier])).toEqual(stated);
    for (const lines of ['dropped 37\ndropped 37', 'dropped -1', 'dropped 037', 'dropped 1e3', 'dropped ']) {
      expect(() => verifyCheckpoint(extended(lines), [verifier])).toThrow('in one line "dropped <n>"');
    }
  });

  function signedAgain(body: string): string {
    const [name = '', text = ''] = note.split('— ')[1]?.trim().split(' ') ?? [];
    const keyId = Buffer.from(text, 'base64').subarray(0, 4);
    const signature = Buffer.concat([keyId, sign(null, Buffer.from(body), privateKey)]);
    return `${body}\n— ${name} ${signature.toString('base64')}\n`;
  }

  test('is refused when it was changed, or signed by another key or for another ledger', () => {
    const other = generateKeyPairSync('ed25519');
    const strange = { name: origin, publicKey: other.publicKey };
    expect(() => verifyCheckpoint(note.replace('\n100\n', '\n101\n'), [verifier])).toThrow('No key');
    expect(() => verifyCheckpoint(note, [strange])).toThrow('No key');
    expect(() => verifyCheckpoint(note, [{ name: 'elsewhere/ledger/x', publicKey }])).toThrow('No key');
    expect(() => verifyCheckpoint('text', [verifier])).toThrow('no signature');
    expect(() => readVerifierLine(verifierLine({ name: origin, publicKey }).replace('sluice', 'slvice'))).toThrow(
      'no Ed25519',
    );
  });
});

const hash41 = whole[41]?.leaf_hash ?? '';
const rewritten = (from: string, to: string) =>
  whole.map((row, i) => (i === 41 ? JSON.stringify(row).replace(from, to) : JSON.stringify(row)));

test.each<[string, string[], RegExp]>([
  [
    'a member twice',
    rewritten('"operation":"use"', '"operation":"read","operation":"use"'),
    /Line 42 names a member twice/,
  ],
  [
    'it twice, once escaped',
    rewritten('"operation"', '"op\\u0065ration":"read","operation"'),
    /Line 42 names a member twice/,
  ],
  [
    'a member of detail twice',
    rewritten('"token_ids":', '"token_ids":[],"token_ids":'),
    /Line 42 names a member twice/,
  ],
  [
    'a number that some readers round',
    rewritten('"leaf_index"', '"n":9007199254740993,"leaf_index"'),
    /Line 42 holds a number/,
  ],
  ...['4e-999', '-0', '-0.0', '-0e1', '-4e-999', '4E-999', '0.1e-999'].map((zero): [string, string[], RegExp] => [
    `a zero as ${zero}`,
    rewritten('"zero":0', `"zero":${zero}`),
    /Line 42 holds a number/,
  ]),
  ['an infinite number', rewritten('"zero":0', '"zero":1e999'), /Line 42 holds a number/],
  ...['"1"', 'true', '[1]', '1.5'].map((version): [string, string[], RegExp] => [
    `the version ${version}`,
    rewritten('"leaf_version":1', `"leaf_version":${version}`),
    /differs from its hash is row 41 /,
  ]),
  ['a word after its hash', rewritten(hash41, `${hash41} changed`), /Row 41 states no hash/],
  ['its hash in capitals', rewritten(hash41, hash41.toUpperCase()), /Row 41 states no hash/],
  ['its hash in a list', rewritten(`"${hash41}"`, `["${hash41}"]`), /Row 41 states no hash/],
])('a line with %s is refused, because readers differ in what it says', async (_name, lines, reason) => {
  expect(await verifyExport(lines, { checkpoint })).toEqual({ isWhole: false, reason: expect.stringMatching(reason) });
});

test('names and quotes within strings, and numbers that are exact, are no such thing', async () => {
  const detail = {
    a: { a: 9007199254740992 },
    b: [{ a: 0.1 + 0.2 }, { a: '\\' }],
    c: '{"b":1,"b":2}',
    d: -1.5e-300,
    e: 1e30,
    f: [0, 1, 0.5, -0.25, 1, 0, 5e-324],
  };
  const odd = [{ id: '"a":1,"a":2 \\"', detail }];
  const asWrittenByPostgres = [`0.${'0'.repeat(20)}`, '1.0', '0.50', '-0.250', '1.0e0', '0e5', '5e-324'];
  const lines = exported(odd).map((row) =>
    JSON.stringify(row)
      .replace('1e+30', `1${'0'.repeat(30)}`)
      .replace('0,1,0.5,-0.25,1,0,5e-324', asWrittenByPostgres.join()),
  );
  expect(lines[0]).toContain(`1${'0'.repeat(30)}`);
  expect(lines[0]).toContain('-0.250,1.0e0');
  expect(await verifyExport(lines, { checkpoint: checkpointOf(odd) })).toMatchObject({ isWhole: true, size: 1 });
});
