import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import {
  addLeaf,
  type Frontier,
  inclusionRanges,
  joinSubtrees,
  leafHash,
  originOf,
  rootOf,
  signCheckpoint,
  subtreesIn,
  verifierLine,
} from '@sluice/ledger';
import type { Log, LogProof } from '@sluice/sdk';
import { verifyRow } from './verify-row.ts';

const tenantId = randomUUID();
const origin = originOf('sluice.example', tenantId);
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const keyFileOf = (key: KeyObject) => `${verifierLine({ name: origin, publicKey: key })}\n`;
const keyFile = keyFileOf(other.publicKey) + keyFileOf(publicKey);

const rowAt = (at: number): Log => ({
  id: randomUUID(),
  tenant_id: tenantId,
  actor_type: 'system',
  entity_type: 'token',
  entity_id: 'ünïcode "€" \u{1f600}',
  operation: 'use',
  message: 'A line\nwith controls \u0007',
  created_at: new Date(1_772_443_800_000 + at).toISOString(),
  detail: { token_ids: ['b', 'a'], calls: 1.5e-7, ä: { z: null, a: [true, {}] }, Z: -0 },
});

/** The tree and the proofs, made by the package of the service. */
function prove(size: number) {
  const rows = Array.from({ length: size }, (_, at) => rowAt(at));
  const nodes = new Map<string, Buffer>();
  let frontier: Frontier = { size: 0, hashes: [] };
  for (const row of rows) {
    frontier = addLeaf(frontier, leafHash(row, 1), ({ level, index, hash }) => nodes.set(`${level}/${index}`, hash));
  }
  const checkpoint = signCheckpoint({ origin, size, root: rootOf(frontier), dropped: 0 }, privateKey);
  const hashesOf = (at: number) =>
    inclusionRanges(at, size).map((range) =>
      joinSubtrees(
        subtreesIn(range).map(({ level, index }) => nodes.get(`${level}/${index}`) ?? Buffer.alloc(0)),
      ).toString('base64'),
    );
  return rows.map((row, at) => ({
    row,
    proof: {
      leaf_index: at,
      tree_size: size,
      leaf_hash: leafHash(row, 1).toString('hex'),
      hashes: hashesOf(at),
      checkpoint,
    } satisfies LogProof,
  }));
}

function proveFifth() {
  const proven = prove(13)[4];
  if (!proven) throw new Error('There is no such row');
  return proven;
}

test.each([1, 2, 3, 7, 8, 33])('every row of a tree of %d is proven by the proofs of the service', async (size) => {
  for (const { row, proof } of prove(size)) {
    expect(await verifyRow(row, proof, keyFile)).toMatchObject({ isProven: true, checkpoint: { origin, size } });
  }
});

test.each([
  ['another row', (row: Log): Log => ({ ...row, message: `${row.message}.` }), undefined],
  ['a member more', (row: Log): Log => ({ ...row, trace_id: 'x' }), undefined],
  ['another place', undefined, { leaf_index: 5 }],
  ['a place beyond the tree', undefined, { leaf_index: 13 }],
  ['a hash less', undefined, (hashes: string[]) => hashes.slice(1)],
  ['a hash more', undefined, (hashes: string[]) => [...hashes, hashes[0] ?? '']],
  ['a hash of another spelling', undefined, (hashes: string[]) => [` ${hashes[0]}`, ...hashes.slice(1)]],
  ['another size', undefined, { tree_size: 14 }],
  ['a checkpoint without a signature', undefined, { checkpoint: 'x\n1\n' }],
] as const)('%s is not proven', async (_name, changeRow, changeProof) => {
  const { row, proof } = proveFifth();
  const changed =
    typeof changeProof === 'function' ? { ...proof, hashes: changeProof(proof.hashes) } : { ...proof, ...changeProof };
  expect(await verifyRow(row, proof, keyFile)).toMatchObject({ isProven: true }); // control
  const verdict = await verifyRow(changeRow?.(row) ?? row, changed, keyFile);
  expect(verdict).toEqual({ isProven: false, reason: expect.any(String) });
});

test('a checkpoint is believed only where a key of the key file has signed it, as it is', async () => {
  const { row, proof } = proveFifth();
  expect(await verifyRow(row, proof, keyFileOf(other.publicKey))).toEqual({
    isProven: false,
    reason: 'No key of this ledger has signed the checkpoint.',
  });
  const elsewhere = `${verifierLine({ name: originOf('sluice.example', randomUUID()), publicKey })}\n`;
  expect(await verifyRow(row, proof, elsewhere)).toMatchObject({ isProven: false });
  expect(await verifyRow(row, proof, keyFile.replace(/\+[0-9a-f]{8}\+/, '+00000000+'))).toMatchObject({
    isProven: false,
  });
  const moved = { ...proof, checkpoint: proof.checkpoint.replace('dropped 0', 'dropped 1') };
  expect(await verifyRow(row, moved, keyFile)).toMatchObject({ isProven: false });
});
