import { ServiceError } from '@sluice/problems';
import { slow, useStack } from '@sluice/testing';
import { createToken, findToken, type KeyWrapper, keyWrapperFrom, localKeyWrapper } from '../index.ts';
import { openProcesses, randomRootKey } from '../testing/test-rotation.ts';
import { startTransitServer } from '../testing/transit-server.ts';
import type { Actor } from '../tokens/token.ts';
import { readRootKeyStatus } from './key-status.ts';
import { rotateRootKey } from './rotate-root-key.ts';

async function withDatabase(work: (setup: Awaited<ReturnType<typeof openSetup>>) => Promise<void>) {
  await using stack = new AsyncDisposableStack();
  await work(await openSetup(stack));
}

async function openSetup(stack: AsyncDisposableStack) {
  const processes = await openProcesses(stack);
  const wrapper = localKeyWrapper(processes.rootKey);
  const vault = await processes.openProcess(wrapper);
  const tokens: { actor: Actor; id: string; data: string }[] = [];
  for (let i = 0; i < 5; i++) {
    const actor = await processes.createActor();
    const data = `value ${i}`;
    tokens.push({ actor, data, id: (await createToken(vault, actor, { type: 'token', data })).token.id });
  }
  const readAll = async (keyWrapper: KeyWrapper) => {
    const reader = await processes.openProcess(keyWrapper);
    for (const { actor, id, data } of tokens) expect((await findToken(reader, actor, id)).data).toBe(data);
  };
  const rows = () =>
    processes.db
      .selectFrom('data_keys')
      .selectAll()
      .orderBy('tenant_id')
      .orderBy('purpose')
      .orderBy('version')
      .execute();
  return { ...processes, stack, vault, wrapper, tokens, readAll, rows };
}

describe('rotating the root key', () => {
  test('both open everything while it is under way; afterwards the previous one is not needed', () =>
    withDatabase(async ({ rootKey, wrapper, readAll, rows, openRotation, vault, tokens }) => {
      const next = randomRootKey();
      const [rotating, alone] = [localKeyWrapper(next, [rootKey]), localKeyWrapper(next)];
      const before = await rows();
      await readAll(rotating);
      await expect(readAll(alone)).rejects.toThrow(`it was wrapped by ${await wrapper.currentKeyId()}`);
      const { rotation, events } = await openRotation({ keyWrapper: rotating });
      const currentKeyId = await alone.currentKeyId();
      expect(await rotateRootKey(rotation)).toEqual({ currentKeyId, rewrapped: 10, left: [], damaged: [] });
      await readAll(alone);
      for (const { actor, id, data } of tokens) expect((await findToken(vault, actor, id)).data).toBe(data);
      const after = await rows();
      expect(after.map(({ wrapped_key: _, root_key_id: __, ...rest }) => rest)).toEqual(
        before.map(({ wrapped_key: _, root_key_id: __, ...rest }) => rest),
      );
      expect(new Set(after.map(({ root_key_id }) => root_key_id))).toEqual(new Set([currentKeyId]));
      expect(events).toEqual([{ type: 'progress', what: 'data keys', done: 10, total: 10 }]);
      expect(await rotateRootKey(rotation)).toMatchObject({ rewrapped: 0, left: [] });
    }));

  test('a data key that does not unwrap is left and named; the others are wrapped anew', () =>
    withDatabase(async ({ db, rootKey, wrapper, tokens, openRotation }) => {
      const tenantId = tokens[0]?.actor.tenantId ?? '';
      const lost = { tenant_id: tenantId, purpose: 'idempotency' as const, version: 1 };
      const wrapped = await localKeyWrapper(randomRootKey()).wrap(Buffer.alloc(32), `${tenantId}/idempotency/1`);
      await db
        .insertInto('data_keys')
        .values({ ...lost, wrapped_key: wrapped.wrapped, root_key_id: wrapped.keyId })
        .execute();
      const keyWrapper = localKeyWrapper(randomRootKey(), [rootKey]);
      const { rotation } = await openRotation({ keyWrapper });
      expect(await rotateRootKey(rotation)).toEqual({
        currentKeyId: await keyWrapper.currentKeyId(),
        rewrapped: 10,
        left: [{ root_key_id: wrapped.keyId, data_keys: 1, tenants: 1 }],
        damaged: [`${tenantId}/idempotency/1 (${wrapped.keyId})`],
      });
      expect(await readRootKeyStatus(db, keyWrapper)).toEqual({
        currentKeyId: await keyWrapper.currentKeyId(),
        rootKeys: [
          { root_key_id: await keyWrapper.currentKeyId(), data_keys: 10, tenants: 5 },
          { root_key_id: wrapped.keyId, data_keys: 1, tenants: 1 },
        ],
        underOthers: 1,
      });
      expect((await readRootKeyStatus(db, wrapper)).underOthers).toBe(11);
    }));

  slow('0.4 s')('from local to the transit engine and to a new version there; one that is cut off resumes', () =>
    withDatabase(async ({ stack, rootKey, readAll, openRotation }) => {
      const { address, token, key, rotate, faults } = await startTransitServer(stack);
      const log = { error: () => undefined, info: () => undefined };
      const service = {
        VAULT_ADDR: address,
        VAULT_TOKEN: token,
        VAULT_TRANSIT_MOUNT: 'transit',
        VAULT_TRANSIT_KEY: key,
      };
      const transit = keyWrapperFrom({ KEY_PROVIDER: 'vault-transit', ...service }, log);
      const moving = keyWrapperFrom({ KEY_PROVIDER: 'vault-transit', ...service, ROOT_KEY_PREVIOUS: rootKey }, log);
      await readAll(moving);
      const first = await openRotation({ keyWrapper: moving });
      faults.next = ['none', 'none', 'none', 'slow'];
      await expect(rotateRootKey(first.rotation)).rejects.toThrow(ServiceError);
      expect(await rotateRootKey(first.rotation)).toMatchObject({ rewrapped: 10, left: [] });
      await readAll(transit);
      rotate();
      const second = await openRotation({ keyWrapper: transit });
      expect(await rotateRootKey(second.rotation)).toEqual({
        currentKeyId: 'vault-transit:transit/sluice:v2',
        ...{ rewrapped: 10, left: [], damaged: [] },
      });
      await readAll(transit);
    }),
  );

  test('while the key service is away a cold key is 503, and a warm one goes on', () =>
    withDatabase(async ({ stack, openProcess, createActor }) => {
      const { address, token, key, faults } = await startTransitServer(stack);
      const log = { error: () => undefined, info: () => undefined };
      const service = {
        VAULT_ADDR: address,
        VAULT_TOKEN: token,
        VAULT_TRANSIT_MOUNT: 'transit',
        VAULT_TRANSIT_KEY: key,
      };
      const wrapper = keyWrapperFrom({ KEY_PROVIDER: 'vault-transit', ...service }, log);
      const [warm, cold] = [await openProcess(wrapper), await openProcess(wrapper)];
      const actor = await createActor();
      const { id } = (await createToken(warm, actor, { type: 'token', data: 'value' })).token;
      faults.all = 'sealed';
      expect((await findToken(warm, actor, id)).data).toBe('value');
      await expect(findToken(cold, actor, id)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
      faults.all = 'none';
      expect((await findToken(cold, actor, id)).data).toBe('value');
    }));
});

describe('many data keys', () => {
  const large = useStack(async (stack) => {
    const setup = await openProcesses(stack);
    const wrapper = localKeyWrapper(setup.rootKey);
    const rows = [];
    for (let i = 0; i < 1700; i++) {
      const tenant_id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
      const { wrapped, keyId } = await wrapper.wrap(Buffer.alloc(32, i), `${tenant_id}/token_data/1`);
      rows.push({ tenant_id, purpose: 'token_data' as const, version: 1, wrapped_key: wrapped, root_key_id: keyId });
    }
    await setup.db.insertInto('data_keys').values(rows).execute();
    return setup;
  });

  test('are gone through in batches; a stop is honoured after one, and what is counted meanwhile is kept', async () => {
    const { db, rootKey, openRotation } = large.current;
    const next = localKeyWrapper(randomRootKey(), [rootKey]);
    const { rotation, stop, events } = await openRotation({ keyWrapper: next });
    const report: typeof rotation.report = (event) => {
      events.push(event);
      stop.abort(new Error('stop'));
    };
    await expect(rotateRootKey({ ...rotation, report })).rejects.toThrow('stop');
    expect(events).toEqual([{ type: 'progress', what: 'data keys', done: 500, total: 1700 }]);
    const second = await openRotation({ keyWrapper: next });
    await db.updateTable('data_keys').set({ use_count: 7 }).execute();
    expect(await rotateRootKey(second.rotation)).toMatchObject({ rewrapped: 1200, left: [] });
    const { wrapped_key, root_key_id, use_count } = await db
      .selectFrom('data_keys')
      .selectAll()
      .orderBy('tenant_id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    const context = '00000000-0000-4000-8000-000000001699/token_data/1';
    expect((await next.unwrap(wrapped_key, { context, keyId: root_key_id })).equals(Buffer.alloc(32, 1699))).toBe(true);
    expect(use_count).toBe(7);
  });
});
