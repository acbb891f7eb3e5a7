import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { tagOf } from '@sluice/cache-coherence';
import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { createToken, decryptSecret, deleteToken, findToken, revealForUse, tokenize, updateToken } from '../index.ts';
import type { Json } from '../json.ts';
import type { Actor } from '../tokens/token.ts';
import type { Vault } from '../vault.ts';
import { readTenantKeyStatus } from './key-status.ts';
import { rotateDataKeys } from './rotate-data-keys.ts';
import type { RotationEvent } from './rotation.ts';
import { insertProxy, openProcesses } from './rotation-for-tests.ts';

jest.setTimeout(120_000);

const setup = useStack(openProcesses);
const both = ['token_data', 'proxy_secrets'] as const;

async function createMany(vault: Vault, actor: Actor, count: number): Promise<Map<string, Json>> {
  const values = new Map<string, Json>();
  for (let from = 0; from < count; from += 1000) {
    const texts = Array.from({ length: Math.min(1000, count - from) }, (_, i) => `value ${from + i} é`);
    const ids = (await tokenize(vault, actor, texts)) as string[];
    ids.forEach((id, i) => void values.set(id, texts[i] ?? null));
  }
  return values;
}

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2090, cvc: '123' };

/** Ciphertexts by the version of their key, read without the code under test. */
async function versionsOf({ tenantId }: Actor): Promise<Record<string, number>> {
  const { rows } = await sql<{ version: number; count: number }>`
    select version, count(*) as count from (
      select get_byte(c, 1) * 16777216 + get_byte(c, 2) * 65536 + get_byte(c, 3) * 256 + get_byte(c, 4) as version from (
        select data_ciphertext as c from tokens where tenant_id = ${tenantId}
        union all select cvc_ciphertext from tokens where tenant_id = ${tenantId} and cvc_ciphertext is not null
        union all select key_ciphertext from proxies where tenant_id = ${tenantId}
        union all select configuration_ciphertext from proxies
          where tenant_id = ${tenantId} and configuration_ciphertext is not null
      ) as all_ciphertexts
    ) as versions group by version
  `.execute(setup.current.db);
  return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
}

function pick<T>(values: readonly T[]): T {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** What clients do all the time, over two processes; every value that is read is compared. */
function startLoad(vaults: readonly Vault[], actor: Actor, values: Map<string, Json>) {
  const done = { read: 0, used: 0, created: 0, patched: 0, deleted: 0 };
  const failures: unknown[] = [];
  let running = true;
  /** Each client has tokens that nobody else changes. */
  async function client(own: string[]): Promise<void> {
    for (let i = 0; running; i++) {
      const [vault, other] = [pick(vaults), pick(vaults)];
      const id = pick(own);
      expect((await findToken(vault, actor, id)).data).toEqual(values.get(id));
      done.read += 1;
      expect((await revealForUse(other, actor, own.slice(0, 20))).get(own[0] ?? '')).toEqual(values.get(own[0] ?? ''));
      done.used += 1;
      const { token } = await createToken(vault, actor, { type: 'token', data: `created ${i}` });
      values.set(token.id, `created ${i}`);
      own.push(token.id);
      done.created += 1;
      const data = `patched ${i}`;
      await updateToken(other, actor, id, i % 2 === 0 ? { data } : { data, metadata: { i: String(i) } });
      values.set(id, data);
      done.patched += 1;
      const gone = own.splice(Math.floor(Math.random() * own.length), 1)[0];
      if (gone === undefined) throw new Error('no token left');
      await deleteToken(vault, actor, gone);
      values.delete(gone);
      done.deleted += 1;
    }
  }
  const ids = [...values.keys()];
  const share = 50;
  const clients = Array.from({ length: 6 }, (_, i) =>
    client(ids.slice(i * share, (i + 1) * share)).catch((error: unknown) => void failures.push(error)),
  );
  return async () => {
    running = false;
    await Promise.all(clients);
    return { done, failures };
  };
}

describe('rotating the data keys of a Tenant', () => {
  test('under load nothing is unreadable at any moment, and at the end nothing is under the old versions', async () => {
    const { openProcess, openRotation, newActor } = setup.current;
    const vaults = [await openProcess(), await openProcess()];
    const [vault, other] = vaults as [Vault, Vault];
    const actor = await newActor();
    const values = await createMany(vault, actor, 4000);
    const cards = [];
    for (let i = 0; i < 20; i++) cards.push((await createToken(vault, actor, { type: 'card', data: card })).token.id);
    const proxies: string[] = [];
    for (let i = 0; i < 30; i++) {
      proxies.push(
        await insertProxy(i % 2 ? vault : other, actor, { key: `k${i}`, configuration: i % 3 ? `c${i}` : null }),
      );
    }
    const stopLoad = startLoad(vaults, actor, values);
    const { rotation, events } = await openRotation();
    const rotated = await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: both, settleMs: 3000 });
    const { done, failures } = await stopLoad();

    expect(failures).toEqual([]);
    for (const count of Object.values(done)) expect(count).toBeGreaterThan(5);
    expect(rotated).toMatchObject([
      { purpose: 'token_data', left: 0, damaged: [] },
      { purpose: 'proxy_secrets', left: 0, damaged: [], rows: 30 },
    ]);
    expect(rotated[0]?.rows).toBeGreaterThan(3000);
    expect(Object.keys(await versionsOf(actor))).toEqual(['2']);
    expect(events[0]).toMatchObject({ type: 'versions', resumed: false, versions: [{ version: 2 }, { version: 2 }] });
    const third = await openProcess();
    const ids = [...values.keys()];
    for (let i = 0; i < ids.length; i += 500) {
      const slice = ids.slice(i, i + 500);
      const opened = await revealForUse(third, actor, slice);
      for (const id of slice) expect(opened.get(id)).toEqual(values.get(id));
    }
    for (const id of cards) expect((await findToken(third, actor, id)).data).toEqual(card);
    const { db } = setup.current;
    for (const [i, id] of proxies.entries()) {
      const row = await db.selectFrom('proxies').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      const place = { tenantId: actor.tenantId, purpose: 'proxy_secrets', recordId: id } as const;
      const open = (field: string, ciphertext: Buffer) => decryptSecret(third, { ...place, field }, ciphertext);
      expect(String(await open('key', row.key_ciphertext))).toBe(`k${i}`);
      if (i % 3 === 0) expect(row.configuration_ciphertext).toBeNull();
      else expect(String(await open('configuration', row.configuration_ciphertext ?? Buffer.alloc(0)))).toBe(`c${i}`);
    }
  });

  test('what was read before a patch does not overwrite it, and a locked row is left to its owner', async () => {
    const { openProcess, openRotation, newActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await newActor()];
    const values = await createMany(vault, actor, 20);
    const [patched = '', locked = ''] = values.keys();
    const { rotation, events } = await openRotation();
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const owner = db.transaction().execute(async (tx) => {
      await tx.selectFrom('tokens').select('id').where('id', '=', locked).forUpdate().execute();
      held.resolve();
      await release.promise;
    });
    await held.promise;
    // Between the read of the page and the write of it.
    const { dataKeys } = rotation;
    let isPatched = false;
    const reserve: typeof dataKeys.reserve = async (of, uses) => {
      if (!isPatched) await updateToken(vault, actor, patched, { data: 'patched meanwhile' });
      isPatched = true;
      return dataKeys.reserve(of, uses);
    };
    let doneMeanwhile: RotationEvent | undefined;
    setTimeout(() => {
      doneMeanwhile = events.at(-1);
      release.resolve();
    }, 1500);
    const rotated = await rotateDataKeys(
      { ...rotation, dataKeys: { ...dataKeys, reserve } },
      { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 },
    );
    await owner;
    expect(doneMeanwhile).toMatchObject({ type: 'progress', done: 18 }); // all but the patched and the locked one
    expect(rotated).toMatchObject([{ left: 0 }]);
    const reader = await openProcess(); // whose caches are empty
    expect((await findToken(reader, actor, patched)).data).toBe('patched meanwhile');
    expect((await findToken(reader, actor, locked)).data).toBe(values.get(locked));
    expect(Object.keys(await versionsOf(actor))).toEqual(['2']);
  });

  test('nobody encrypts with the old version once it has been announced, though it had uses left', async () => {
    const { openProcess, openRotation, newActor } = setup.current;
    const [vault, other, actor] = [await openProcess(), await openProcess(), await newActor()];
    for (const one of [vault, other]) await createMany(one, actor, 3); // each has a reservation of version 1 now
    const { rotation } = await openRotation();
    await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 });
    for (const one of [vault, other]) await createMany(one, actor, 3);
    expect(await versionsOf(actor)).toEqual({ 2: 12 });
  });

  test('uses are counted before they happen, those of the rotation too', async () => {
    const { openProcess, openRotation, newActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await newActor()];
    await createMany(vault, actor, 1200);
    for (let i = 0; i < 5; i++) await createToken(vault, actor, { type: 'card', data: card });
    const { rotation } = await openRotation();
    await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 });
    const status = await readTenantKeyStatus(db, actor.tenantId);
    const tokens = status.filter(({ purpose }) => purpose === 'token_data');
    expect(tokens).toMatchObject([
      { version: 2, ciphertexts: 1210 },
      { version: 1, ciphertexts: 0 },
    ]);
    expect(tokens[0]?.use_count).toBeGreaterThanOrEqual(1210);
    expect(tokens[1]?.use_count).toBeGreaterThanOrEqual(1210);
    expect(status.find(({ purpose }) => purpose === 'fingerprint')).toMatchObject({ version: 1, ciphertexts: null });
  });

  test('one that was stopped goes on with the versions that it made; the next one makes new ones', async () => {
    const { openProcess, openRotation, newActor } = setup.current;
    const [vault, actor] = [await openProcess(), await newActor()];
    await createMany(vault, actor, 2000);
    await insertProxy(vault, actor, { key: 'k', configuration: 'c' });
    const first = await openRotation();
    const report: typeof first.rotation.report = ({ type }) =>
      type === 'progress' && first.stop.abort(new Error('stop'));
    const work = { tenantId: actor.tenantId, purposes: both, settleMs: 0 };
    await expect(rotateDataKeys({ ...first.rotation, report }, work)).rejects.toThrow('stop');
    expect(await versionsOf(actor)).toEqual({ 1: 1502, 2: 500 });

    const second = await openRotation();
    expect(await rotateDataKeys(second.rotation, work)).toMatchObject([
      { rows: 1500, left: 0 },
      { rows: 1, left: 0 },
    ]);
    expect(second.events[0]).toMatchObject({ type: 'versions', resumed: true });
    expect(await versionsOf(actor)).toEqual({ 2: 2002 });

    const third = await openRotation();
    await rotateDataKeys(third.rotation, work);
    expect(third.events[0]).toMatchObject({ type: 'versions', resumed: false });
    expect(await versionsOf(actor)).toEqual({ 3: 2002 });
  });

  test('what does not open is left, named and counted; everything else is rotated', async () => {
    const { openProcess, openRotation, newActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await newActor()];
    const [one = '', two = ''] = (await createMany(vault, actor, 50)).keys();
    await sql`update tokens set data_ciphertext = set_byte(data_ciphertext, 40, get_byte(data_ciphertext, 40) # 1)
      where tenant_id = ${actor.tenantId} and id = ${one}`.execute(db);
    await sql`update tokens set data_ciphertext = 'short' where tenant_id = ${actor.tenantId} and id = ${two}`.execute(
      db,
    );
    const { rotation } = await openRotation();
    const work = { tenantId: actor.tenantId, purposes: ['token_data'] as const, settleMs: 0 };
    const [rotated] = await rotateDataKeys(rotation, work);
    // Bytes 1 to 4 of "short" are a version that is not old.
    expect(rotated).toEqual({ purpose: 'token_data', rows: 48, left: 1, damaged: [one] });
  });

  test('large tokens are gone through in pages that fit in memory', async () => {
    const { openProcess, openRotation, newActor } = setup.current;
    const [vault, actor] = [await openProcess(), await newActor()];
    const data = 'x'.repeat(1_000_000);
    for (let i = 0; i < 20; i++) await createToken(vault, actor, { type: 'token', data });
    const { rotation, events } = await openRotation();
    await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 });
    const steps = events.flatMap((event) => (event.type === 'progress' ? [event.done] : []));
    expect(steps).toEqual([9, 18, 20]);
    expect(await versionsOf(actor)).toEqual({ 2: 20 });
  });

  test('a Tenant that has no key yet has nothing to rotate; one that is closed or unknown is refused', async () => {
    const { openRotation, newActor, db } = setup.current;
    const { rotation } = await openRotation();
    const actor = await newActor();
    expect(await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: both, settleMs: 0 })).toEqual([]);
    await db
      .updateTable('tenants')
      .set({ closed_at: new Date().toISOString() })
      .where('id', '=', actor.tenantId)
      .execute();
    for (const tenantId of [actor.tenantId, randomUUID()]) {
      const refused = rotateDataKeys(rotation, { tenantId, purposes: both, settleMs: 0 });
      await expect(refused).rejects.toThrow(ServiceError);
    }
  });

  test('leaves an audit row, and a change that names the keys', async () => {
    const { openProcess, openRotation, newActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await newActor()];
    await createMany(vault, actor, 1);
    const { rotation } = await openRotation();
    const recorded: (readonly string[])[] = [];
    const changes: typeof rotation.changes = {
      ...rotation.changes,
      record: (tx, tenantId, tags) => {
        recorded.push(tags);
        return rotation.changes.record(tx, tenantId, tags);
      },
    };
    const work = { tenantId: actor.tenantId, purposes: both, settleMs: 0 };
    await rotateDataKeys({ ...rotation, changes }, work);
    expect(recorded).toEqual([[tagOf.dataKeys(actor.tenantId, 'token_data')]]);
    const audit = await db
      .selectFrom('audit_log')
      .select(['entity_id', 'detail'])
      .where('tenant_id', '=', actor.tenantId)
      .where('operation', '=', 'tenant.data_keys_rotated')
      .execute();
    expect(audit).toEqual([{ entity_id: actor.tenantId, detail: { versions: { token_data: 2 } } }]);
  });
});
