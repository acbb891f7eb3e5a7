import { setTimeout as delay } from 'node:timers/promises';
import type { KeyPurpose } from '../keys/data-key.queries.ts';
import { encryptAnew } from './encrypt-anew.ts';
import { countOlder, type Older, readPage, replaceCiphertexts } from './encrypted-rows.queries.ts';
import type { EncryptedTable } from './encrypted-rows.ts';
import type { Rotation } from './rotation.ts';

export interface Reencryption extends Older {
  purpose: KeyPurpose;
  table: EncryptedTable;
  /** From then on (`performance.now()`), no request writes under an older version. */
  settledAt: number;
}

export interface Reencrypted {
  purpose: KeyPurpose;
  table: EncryptedTable['table'];
  rows: number;
  left: number;
  /** How many of the remaining rows cannot be decrypted. */
  damagedRows: number;
  /** At most ten of their ids. */
  damaged: string[];
}

/** Longer than Postgres lets an idle transaction hold locks. */
const mostFruitlessMs = 15_000;
const pauseMs = 200;

/** Runs until Postgres counts no older row. Reports damaged rows, and retries locked ones for a while. */
export async function reencrypt(rotation: Rotation, work: Reencryption): Promise<Reencrypted> {
  const { purpose, table, settledAt } = work;
  const count = () => countOlder(rotation.countingDb, table, work);
  const what = `${table.table} (${purpose})`;
  const total = await count();
  let left = total;
  let rows = 0;
  let fruitfulAt = performance.now();
  for (;;) {
    const onReplaced = (replaced: number) => {
      rows += replaced;
      if (replaced > 0) fruitfulAt = performance.now();
      rotation.report({ type: 'progress', what, done: rows, total: Math.max(total, rows) });
    };
    const damage = left === 0 ? { rows: 0, ids: [] } : await walk(rotation, work, onReplaced);
    left = await count();
    const isDone = left <= damage.rows;
    const waitMs = Math.ceil(settledAt - performance.now());
    if (isDone ? waitMs <= 0 : performance.now() - fruitfulAt > mostFruitlessMs) {
      return { purpose, table: table.table, rows, left, damagedRows: Math.min(left, damage.rows), damaged: damage.ids };
    }
    if (isDone) rotation.report({ type: 'waiting', what, ms: waitMs });
    await pause(isDone ? waitMs : pauseMs, rotation.signal);
    if (isDone) left = await count();
  }
}

async function walk(rotation: Rotation, work: Reencryption, onReplaced: (rows: number) => void) {
  const { db, dataKeys, signal } = rotation;
  const { table, tenantId } = work;
  const damage = { rows: 0, ids: [] as string[] };
  const onDamaged = (id: string) => {
    damage.rows += 1;
    if (damage.ids.length < 10) damage.ids.push(id);
  };
  for (let after: string | undefined = table.firstId; after !== undefined; ) {
    signal.throwIfAborted();
    const page = await readPage(db, table, { ...work, after });
    const old = page.rows.filter(({ ciphertexts }) => ciphertexts.some((ciphertext) => ciphertext !== null));
    const rows = await encryptAnew(dataKeys, old, { owner: work, table, onDamaged });
    if (rows.length > 0) onReplaced(await replaceCiphertexts(db, table, { tenantId, rows }));
    after = page.lastId;
  }
  return damage;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
