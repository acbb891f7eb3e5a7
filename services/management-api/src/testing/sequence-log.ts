import { generateKeyPairSync } from 'node:crypto';
import { type LogRow, logColumns, presentLog } from '@sluice/audit';
import type { Database } from '@sluice/database';
import {
  addLeaf,
  leafHash,
  leafVersion,
  originOf,
  readFrontier,
  rootOf,
  signCheckpoint,
  verifierLine,
} from '@sluice/ledger';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

/** Orders rows by time and id, as the worker does, and signs the checkpoint. */
export async function sequenceLog(db: Database, tenantId: string) {
  const rows = (await db
    .selectFrom('audit_log')
    .select([...logColumns])
    .where('tenant_id', '=', tenantId)
    .orderBy('at')
    .orderBy('id')
    .execute()) as unknown as LogRow[];
  const [leaves, nodes]: [object[], object[]] = [[], []];
  let frontier = readFrontier(0, Buffer.alloc(0));
  for (const [leaf_index, row] of rows.entries()) {
    const leaf_hash = leafHash(presentLog(row), leafVersion);
    const leaf = { tenant_id: tenantId, leaf_index, log_id: row.id, at: row.at, kept_at: row.at };
    leaves.push({ ...leaf, leaf_version: leafVersion, leaf_hash });
    frontier = addLeaf(frontier, leaf_hash, ({ level, index, hash }) => {
      if (level > 0 && level % 4 === 0) nodes.push({ tenant_id: tenantId, level, node_index: index, hash });
    });
  }
  for (let at = 0; at < leaves.length; at += 5000) {
    const values = leaves.slice(at, at + 5000) as never;
    await db.insertInto('ledger_leaves').values(values).execute();
  }
  if (nodes.length > 0)
    await db
      .insertInto('ledger_nodes')
      .values(nodes as never)
      .execute();
  await db.deleteFrom('audit_log_arrivals').where('tenant_id', '=', tenantId).execute();
  const origin = originOf('sluice.example', tenantId);
  const checkpoint = signCheckpoint({ origin, size: rows.length, root: rootOf(frontier), dropped: 0 }, privateKey);
  await db.insertInto('ledgers').values({ tenant_id: tenantId, size: rows.length, checkpoint }).execute();
  return { checkpoint, keyFile: `${verifierLine({ name: origin, publicKey })}\n`, size: rows.length };
}
