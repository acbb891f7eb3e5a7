import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  addLeaf,
  isConsistent,
  originOf,
  readFrontier,
  readVerifierLine,
  rootOf,
  rootOfInclusion,
  signCheckpoint,
  verifierLine,
  verifyCheckpoint,
} from '@sluice/ledger';
import { useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const bytes = (hashes: string[]) => hashes.map((hash) => Buffer.from(hash, 'base64'));

/** As the worker builds it; returns its root at each size. */
async function fillLedger(size: number) {
  const { db, anotherTenant, send } = api.current;
  const { tenant_id, management_key: key } = await anotherTenant('T');
  const origin = originOf('sluice.example', tenant_id);
  const verifier = readVerifierLine(verifierLine({ name: origin, publicKey }));
  const [leaves, nodes, roots]: [object[], object[], Buffer[]] = [[], [], []];
  const ids = Array.from({ length: size }, () => randomUUID());
  let frontier = readFrontier(0, Buffer.alloc(0));
  for (const [leaf_index, log_id] of ids.entries()) {
    const leaf_hash = createHash('sha256').update(log_id).digest();
    const at = new Date().toISOString();
    leaves.push({ tenant_id, leaf_index, log_id, at, kept_at: at, leaf_version: 1, leaf_hash });
    frontier = addLeaf(frontier, leaf_hash, ({ level, index, hash }) => {
      if (level > 0 && level % 4 === 0) nodes.push({ tenant_id, level, node_index: index, hash });
    });
    roots.push(rootOf(frontier));
  }
  const root = rootOf(frontier);
  await db
    .insertInto('ledger_leaves')
    .values(leaves as never)
    .execute();
  if (nodes.length > 0)
    await db
      .insertInto('ledger_nodes')
      .values(nodes as never)
      .execute();
  const checkpoint = signCheckpoint({ origin, size, root }, privateKey);
  await db.insertInto('ledgers').values({ tenant_id, size, checkpoint }).execute();
  const get = (path: string) => send('GET', path, { key });
  return { get, ids, roots, root, checkpoint, verifier, key, tenant_id };
}

test('the newest checkpoint is served as it was signed, as text', async () => {
  const { checkpoint, key } = await fillLedger(3);
  const response = await fetch(`${api.current.url}/logs/checkpoint`, { headers: { 'SVC-API-KEY': key } });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(await response.text()).toBe(checkpoint);
});

test.each([1, 2, 15, 16, 17, 333])(
  'in a ledger of %d rows proofs of every kind lead to the signed root',
  async (size) => {
    const { get, ids, roots, root, verifier } = await fillLedger(size);
    for (const leafIndex of new Set([0, size >> 1, size - 1])) {
      const { status, body } = await get(`/logs/${ids[leafIndex]}/proof`);
      expect([status, body.leaf_index, body.tree_size]).toEqual([200, leafIndex, size]);
      expect(verifyCheckpoint(body.checkpoint, [verifier])).toMatchObject({ size, root });
      const leaf = { leafIndex, treeSize: size, leafHash: Buffer.from(body.leaf_hash, 'hex') };
      expect(rootOfInclusion(leaf, bytes(body.hashes))).toEqual(root);
      const from = leafIndex + 1;
      const { hashes } = (await get(`/logs/consistency?from=${from}&to=${size}`)).body;
      const older = { size: from, root: roots[leafIndex] ?? Buffer.alloc(0) };
      expect(isConsistent(older, { size, root }, bytes(hashes))).toBe(true);
      expect(isConsistent({ ...older, root: Buffer.alloc(32) }, { size, root }, bytes(hashes))).toBe(false);
    }
  },
);

/** The worker's retention leaves fewer than 16 hashes of each level before these rows. */
async function dropRows(tenantId: string, dropped: number): Promise<void> {
  const { db } = api.current;
  await db.updateTable('ledgers').set({ dropped }).where('tenant_id', '=', tenantId).execute();
  await sql`delete from ledger_leaves where tenant_id = ${tenantId} and leaf_index < ${dropped - (dropped % 16)}`.execute(
    db,
  );
  await sql`
    delete from ledger_nodes where tenant_id = ${tenantId}
      and node_index < (${dropped}::bigint >> level) - ((${dropped}::bigint >> level) & 15)
  `.execute(db);
}

test.each([1, 16, 255, 256, 300, 332])(
  'when retention has dropped %d rows, the others are proven as before',
  async (dropped) => {
    const size = 333;
    const { get, ids, roots, root, tenant_id } = await fillLedger(size);
    await dropRows(tenant_id, dropped);
    for (const leafIndex of new Set([dropped, (dropped + size) >> 1, size - 1])) {
      const { status, body } = await get(`/logs/${ids[leafIndex]}/proof`);
      expect([status, body.leaf_index]).toEqual([200, leafIndex]);
      const leaf = { leafIndex, treeSize: size, leafHash: Buffer.from(body.leaf_hash, 'hex') };
      expect(rootOfInclusion(leaf, bytes(body.hashes))).toEqual(root);
    }
    const older = { size: dropped, root: roots[dropped - 1] ?? Buffer.alloc(0) };
    const { hashes } = (await get(`/logs/consistency?from=${dropped}&to=${size}`)).body;
    expect(isConsistent(older, { size, root }, bytes(hashes))).toBe(true);
    const gone = await get(`/logs/${ids[dropped - 1]}/proof`);
    expect(gone.status).toBe(404);
    if (dropped > 1) expect((await get(`/logs/consistency?from=${dropped - 1}&to=${size}`)).status).toBe(400);
  },
);

test('sizes that do not exist are 400, rows that are not in the ledger 404, and so are those of another Tenant', async () => {
  const { get, ids } = await fillLedger(5);
  for (const query of ['from=1&to=6', 'from=3&to=2', 'from=0&to=2', 'from=1']) {
    expect([query, (await get(`/logs/consistency?${query}`)).status]).toEqual([query, 400]);
  }
  expect((await get(`/logs/${randomUUID()}/proof`)).status).toBe(404);
  const other = await fillLedger(2);
  const theirs = await other.get(`/logs/${ids[0]}/proof`);
  expect([theirs.status, theirs.body.detail]).toEqual([404, expect.stringContaining('is not in the ledger')]);
});

test('where nothing is signed the answer names the setting', async () => {
  const { db, anotherTenant, send } = api.current;
  const { tenant_id, management_key: key } = await anotherTenant('T');
  await db.insertInto('ledgers').values({ tenant_id, size: 1 }).execute();
  for (const path of ['/logs/checkpoint', `/logs/${randomUUID()}/proof`]) {
    const { status, body } = await send('GET', path, { key });
    expect([status, body.detail]).toEqual([404, expect.stringContaining('LEDGER_KEY')]);
  }
});

test('needs log:read', async () => {
  const key = await api.current.keyWith('tenant:read');
  for (const path of ['/logs/checkpoint', '/logs/consistency?from=1&to=1', `/logs/${randomUUID()}/proof`]) {
    expect((await api.current.send('GET', path, { key })).status).toBe(403);
    expect((await api.current.send('GET', path, { key: 'x' })).status).toBe(401);
  }
});
