import { randomUUID } from 'node:crypto';
import { tagOf } from '@sluice/cache-coherence';
import { proxyVersionField, reactorConfiguration, runArguments, runConsole, runResult } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { eventually, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { createToken, decryptSecret, findToken, localKeyWrapper, updateToken } from '../index.ts';
import {
  card,
  createMany,
  insertProxy,
  insertProxyVersion,
  insertReactor,
  insertRun,
  openProcesses,
  randomRootKey,
} from '../testing/test-rotation.ts';
import type { Actor } from '../tokens/token.ts';
import { readTenantKeyStatus } from './key-status.ts';
import { rotateDataKeys } from './rotate-data-keys.ts';

const setup = useStack(openProcesses);
const both = ['token_data', 'proxy_secrets'] as const;
const versionsOf = (actor: Actor) => setup.current.versionsOf(actor);

describe('rotating the data keys of a Tenant', () => {
  test('what was read before a patch does not overwrite it, and a locked row is left to its owner', async () => {
    const { openProcess, openRotation, createActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
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
    // A token is patched between the read and the write of its page.
    const { dataKeys } = rotation;
    let isPatched = false;
    const reserve: typeof dataKeys.reserve = async (of, uses) => {
      if (!isPatched) await updateToken(vault, actor, patched, { data: 'patched meanwhile' });
      isPatched = true;
      return dataKeys.reserve(of, uses);
    };
    const isDoneButFor = (left: number) => {
      const last = events.at(-1);
      return last?.type === 'progress' && last.done === 20 - left;
    };
    const released = eventually('all but the patched and the locked one are done', () => isDoneButFor(2)).finally(
      release.resolve,
    );
    const rotated = await rotateDataKeys(
      { ...rotation, dataKeys: { ...dataKeys, reserve } },
      { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 },
    );
    await owner;
    await released;
    expect(rotated).toMatchObject([{ left: 0 }]);
    const reader = await openProcess();
    expect((await findToken(reader, actor, patched)).data).toBe('patched meanwhile');
    expect((await findToken(reader, actor, locked)).data).toBe(values.get(locked));
    expect(Object.keys(await versionsOf(actor))).toEqual(['2']);
  });

  test('nobody encrypts with the old version once it has been announced, though it had uses left', async () => {
    const { openProcess, openRotation, createActor } = setup.current;
    const [vault, other, actor] = [await openProcess(), await openProcess(), await createActor()];
    for (const one of [vault, other]) await createMany(one, actor, 3); // each now holds a reservation of version 1
    const { rotation } = await openRotation();
    await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 });
    for (const one of [vault, other]) await createMany(one, actor, 3);
    expect(await versionsOf(actor)).toEqual({ 2: 12 });
  });

  test('uses are counted before they happen, those of the rotation too', async () => {
    const { openProcess, openRotation, createActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
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

  slow('0.7 s')(
    'one that was stopped goes on with the versions that it made; the next one makes new ones',
    async () => {
      const { openProcess, openRotation, createActor } = setup.current;
      const [vault, actor] = [await openProcess(), await createActor()];
      await createMany(vault, actor, 2000);
      await insertProxy(vault, actor, { key: 'k', configuration: 'c' });
      const first = await openRotation();
      const report: typeof first.rotation.report = ({ type }) =>
        type === 'progress' && first.stop.abort(new Error('stop'));
      const work = { tenantId: actor.tenantId, purposes: both, settleMs: 0 };
      await expect(rotateDataKeys({ ...first.rotation, report }, work)).rejects.toThrow('stop');
      expect(await versionsOf(actor)).toEqual({ 1: 1503, 2: 500 });

      const second = await openRotation();
      expect(await rotateDataKeys(second.rotation, work)).toMatchObject([
        { table: 'tokens', rows: 1500, left: 0 },
        { table: 'proxies', rows: 1, left: 0 },
        { table: 'proxy_versions', rows: 0, left: 0 },
        { table: 'reactors', rows: 0, left: 0 },
        { table: 'reactor_runs', rows: 0, left: 0 },
      ]);
      expect(second.events[0]).toMatchObject({ type: 'versions', resumed: true });
      expect(await versionsOf(actor)).toEqual({ 2: 2003 });

      const third = await openRotation();
      await rotateDataKeys(third.rotation, work);
      expect(third.events[0]).toMatchObject({ type: 'versions', resumed: false });
      expect(await versionsOf(actor)).toEqual({ 3: 2003 });
    },
  );

  test('each table of a purpose is encrypted anew, and counted', async () => {
    const { openProcess, openRotation, createActor, versionsOf, db } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
    const proxyId = await insertProxy(vault, actor, { key: 'k', configuration: null });
    const versionId = await insertProxyVersion(vault, actor, proxyId, 'a former definition');
    const id = await insertReactor(vault, actor, 'configuration');
    const runId = await insertRun(vault, actor, true);
    const waitingId = await insertRun(vault, actor, false);
    const { rotation } = await openRotation();
    const work = { tenantId: actor.tenantId, purposes: ['proxy_secrets'] as const, settleMs: 0 };
    expect(await rotateDataKeys(rotation, work)).toMatchObject([
      { table: 'proxies', rows: 1, left: 0 },
      { table: 'proxy_versions', rows: 1, left: 0 },
      { table: 'reactors', rows: 1, left: 0 },
      { table: 'reactor_runs', rows: 2, left: 0 },
    ]);
    expect(await versionsOf(actor)).toEqual({ 2: 7 });
    const status = await readTenantKeyStatus(db, actor.tenantId);
    expect(status.map(({ version, ciphertexts }) => [version, ciphertexts])).toEqual([
      [2, 7],
      [1, 0],
    ]);
    const row = db.selectFrom('reactors').select('configuration_ciphertext').where('id', '=', id);
    const { configuration_ciphertext: ciphertext } = await row.executeTakeFirstOrThrow();
    const place = { tenantId: actor.tenantId, recordId: id, ...reactorConfiguration };
    expect((await decryptSecret(vault, place, ciphertext as Buffer)).toString()).toBe('configuration');
    const runs = db
      .selectFrom('reactor_runs')
      .select(['id', 'arguments_ciphertext', 'result_ciphertext', 'console_ciphertext']);
    const found = new Map((await runs.where('tenant_id', '=', actor.tenantId).execute()).map((run) => [run.id, run]));
    const opened = async (
      place: typeof runArguments | typeof runResult | typeof runConsole,
      recordId: string,
      text: Buffer | null | undefined,
    ) => (await decryptSecret(vault, { tenantId: actor.tenantId, recordId, ...place }, text as Buffer)).toString();
    expect(await opened(runArguments, waitingId, found.get(waitingId)?.arguments_ciphertext)).toBe('arguments');
    expect(await opened(runResult, runId, found.get(runId)?.result_ciphertext)).toBe('result');
    expect(await opened(runConsole, runId, found.get(runId)?.console_ciphertext)).toBe('console');
    const former = db.selectFrom('proxy_versions').select('definition_ciphertext').where('id', '=', versionId);
    const { definition_ciphertext } = await former.executeTakeFirstOrThrow();
    const placeOfVersion = { ...place, recordId: versionId, field: proxyVersionField };
    const definition = await decryptSecret(vault, placeOfVersion, definition_ciphertext);
    expect(definition.toString()).toBe('a former definition');
  });

  test('what does not open is left, named and counted; everything else is rotated', async () => {
    const { openProcess, openRotation, createActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
    const [one = '', two = ''] = (await createMany(vault, actor, 50)).keys();
    await sql`update tokens set data_ciphertext = set_byte(data_ciphertext, 40, get_byte(data_ciphertext, 40) # 1)
      where tenant_id = ${actor.tenantId} and id = ${one}`.execute(db);
    await sql`update tokens set data_ciphertext = 'short' where tenant_id = ${actor.tenantId} and id = ${two}`.execute(
      db,
    );
    const { rotation } = await openRotation();
    const work = { tenantId: actor.tenantId, purposes: ['token_data'] as const, settleMs: 0 };
    const [rotated] = await rotateDataKeys(rotation, work);
    // Bytes 1 to 4 of "short" read as a version that is not old.
    expect(rotated).toMatchObject({ table: 'tokens', rows: 48, left: 1, damagedRows: 1, damaged: [one] });
  });

  test('a damaged row does not keep the next rotation from making new versions, of no purpose', async () => {
    const { openProcess, openRotation, createActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
    const [damaged = ''] = (await createMany(vault, actor, 3)).keys();
    await insertProxy(vault, actor, { key: 'k', configuration: null });
    await sql`update tokens set data_ciphertext = set_byte(data_ciphertext, 40, get_byte(data_ciphertext, 40) # 1)
      where tenant_id = ${actor.tenantId} and id = ${damaged}`.execute(db);
    const work = { tenantId: actor.tenantId, purposes: both, settleMs: 0 };
    for (const version of [2, 3]) {
      const { rotation, events } = await openRotation();
      expect(await rotateDataKeys(rotation, work)).toEqual([
        { purpose: 'token_data', table: 'tokens', rows: 2, left: 1, damagedRows: 1, damaged: [damaged] },
        { purpose: 'proxy_secrets', table: 'proxies', rows: 1, left: 0, damagedRows: 0, damaged: [] },
        { purpose: 'proxy_secrets', table: 'proxy_versions', rows: 0, left: 0, damagedRows: 0, damaged: [] },
        { purpose: 'proxy_secrets', table: 'reactors', rows: 0, left: 0, damagedRows: 0, damaged: [] },
        { purpose: 'proxy_secrets', table: 'reactor_runs', rows: 0, left: 0, damagedRows: 0, damaged: [] },
      ]);
      const made = events.filter(({ type }) => type === 'versions').at(-1);
      expect(made).toMatchObject({ resumed: false, versions: [{ version }, { version }] });
      expect(await versionsOf(actor)).toEqual({ 1: 1, [version]: 4 });
    }
  });

  describe('a data key that does not open damages no row: no new version is made', () => {
    const work = (actor: Actor) => ({ tenantId: actor.tenantId, purposes: both, settleMs: 0 });
    const keysOf = async ({ tenantId }: Actor) =>
      (await readTenantKeyStatus(setup.current.db, tenantId)).map(({ purpose, version }) => `${purpose} ${version}`);

    test('where the settings lack the root key that wrapped it', async () => {
      const { openProcess, openRotation, createActor, rootKey } = setup.current;
      const [vault, actor] = [await openProcess(), await createActor()];
      await createMany(vault, actor, 3);
      const before = await keysOf(actor);
      const { rotation, events } = await openRotation({ keyWrapper: localKeyWrapper(randomRootKey()) });
      await expect(rotateDataKeys(rotation, work(actor))).rejects.toMatchObject({
        owner: { purpose: 'token_data' },
        version: 1,
        rootKeyId: await localKeyWrapper(rootKey).currentKeyId(),
        cause: { message: 'it was wrapped by a root key that the settings do not give' },
      });
      expect(events).toEqual([]);
      expect(await keysOf(actor)).toEqual(before);
    });

    test('where a rotation was stopped, and the root key too was being replaced', async () => {
      const { openProcess, openRotation, createActor, rootKey } = setup.current;
      const next = randomRootKey();
      const [vault, actor] = [await openProcess(), await createActor()];
      await createMany(vault, actor, 600);
      const first = await openRotation({ keyWrapper: localKeyWrapper(next, [rootKey]) });
      const report: typeof first.rotation.report = ({ type }) =>
        type === 'progress' && first.stop.abort(new Error('stop'));
      await expect(rotateDataKeys({ ...first.rotation, report }, work(actor))).rejects.toThrow('stop');
      const before = await keysOf(actor);
      const second = await openRotation({ keyWrapper: localKeyWrapper(next) });
      await expect(rotateDataKeys(second.rotation, work(actor))).rejects.toMatchObject({ version: 1 });
      expect(await versionsOf(actor)).toEqual({ 1: 100, 2: 500 });
      expect(await keysOf(actor)).toEqual(before);
    });

    test('where its row is gone', async () => {
      const { openProcess, openRotation, createActor, db } = setup.current;
      const [vault, actor] = [await openProcess(), await createActor()];
      await createMany(vault, actor, 3);
      await insertProxy(vault, actor, { key: 'k', configuration: null });
      const { rotation } = await openRotation();
      await rotateDataKeys(rotation, work(actor));
      await sql`delete from data_keys where tenant_id = ${actor.tenantId} and version = 1`.execute(db);
      await sql`update proxies set key_ciphertext = set_byte(key_ciphertext, 4, 1)
        where tenant_id = ${actor.tenantId}`.execute(db);
      const before = await keysOf(actor);
      const failed = { owner: { purpose: 'proxy_secrets' }, version: 1, rootKeyId: undefined };
      await expect(rotateDataKeys((await openRotation()).rotation, work(actor))).rejects.toMatchObject(failed);
      expect(await keysOf(actor)).toEqual(before);
    });

    test('but a row that names a version which never was is damaged, as is one that is too short for one', async () => {
      const { openProcess, openRotation, createActor, db } = setup.current;
      const [vault, actor] = [await openProcess(), await createActor()];
      const [one = '', two = ''] = (await createMany(vault, actor, 4)).keys();
      await sql`update tokens set data_ciphertext = set_byte(data_ciphertext, 4, 0)
        where tenant_id = ${actor.tenantId} and id = ${one}`.execute(db);
      await sql`update tokens set data_ciphertext = 'x' where tenant_id = ${actor.tenantId} and id = ${two}`.execute(
        db,
      );
      const { rotation } = await openRotation();
      const [rotated] = await rotateDataKeys(rotation, { ...work(actor), purposes: ['token_data'] });
      expect(rotated).toMatchObject({ rows: 2, left: 2, damagedRows: 2 });
      expect(rotated?.damaged.toSorted()).toEqual([one, two].sort());
      expect(await keysOf(actor)).toContain('token_data 2');
    });
  });

  slow('1.8 s')('large tokens are gone through in pages that fit in memory', async () => {
    const { openProcess, openRotation, createActor } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
    const data = 'x'.repeat(1_000_000);
    for (let i = 0; i < 20; i++) await createToken(vault, actor, { type: 'token', data });
    const { rotation, events } = await openRotation();
    await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes: ['token_data'], settleMs: 0 });
    const steps = events.flatMap((event) => (event.type === 'progress' ? [event.done] : []));
    expect(steps).toEqual([9, 18, 20]);
    expect(await versionsOf(actor)).toEqual({ 2: 20 });
  });

  test('a Tenant that has no key yet has nothing to rotate; one that is closed or unknown is refused', async () => {
    const { openRotation, createActor, db } = setup.current;
    const { rotation } = await openRotation();
    const actor = await createActor();
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
    const { openProcess, openRotation, createActor, db } = setup.current;
    const [vault, actor] = [await openProcess(), await createActor()];
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
      .where('operation', '=', 'update')
      .execute();
    expect(audit).toEqual([{ entity_id: actor.tenantId, detail: { versions: { token_data: 2 } } }]);
  });
});
