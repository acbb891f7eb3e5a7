import { slow, useStack } from '@sluice/testing';
import { createToken, decryptSecret, deleteToken, findToken, revealForUse, updateToken } from '../index.ts';
import type { Json } from '../json.ts';
import { card, createMany, insertProxy, openProcesses } from '../testing/test-rotation.ts';
import type { Actor } from '../tokens/token.ts';
import type { Vault } from '../vault.ts';
import { rotateDataKeys } from './rotate-data-keys.ts';

const setup = useStack(openProcesses);
const purposes = ['token_data', 'proxy_secrets'] as const;

function pick<T>(values: readonly T[]): T {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

function startLoad(vaults: readonly Vault[], actor: Actor, values: Map<string, Json>) {
  const done = { read: 0, used: 0, created: 0, patched: 0, deleted: 0 };
  const failures: unknown[] = [];
  let running = true;
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

slow('3.2 s')(
  'under load nothing is unreadable at any moment, and at the end nothing is under the old versions',
  async () => {
    const { openProcess, openRotation, createActor } = setup.current;
    const vaults = [await openProcess(), await openProcess()];
    const [vault, other] = vaults as [Vault, Vault];
    const actor = await createActor();
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
    const rotated = await rotateDataKeys(rotation, { tenantId: actor.tenantId, purposes, settleMs: 3000 });
    const { done, failures } = await stopLoad();

    expect(failures).toEqual([]);
    for (const count of Object.values(done)) expect(count).toBeGreaterThan(5);
    expect(rotated).toMatchObject([
      { purpose: 'token_data', left: 0, damaged: [] },
      { purpose: 'proxy_secrets', table: 'proxies', left: 0, damaged: [], rows: 30 },
      { purpose: 'proxy_secrets', table: 'proxy_versions', left: 0, damaged: [], rows: 0 },
      { purpose: 'proxy_secrets', table: 'reactors', left: 0, damaged: [], rows: 0 },
      { purpose: 'proxy_secrets', table: 'reactor_runs', left: 0, damaged: [], rows: 0 },
    ]);
    expect(rotated[0]?.rows).toBeGreaterThan(3000);
    expect(Object.keys(await setup.current.versionsOf(actor))).toEqual(['2']);
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
      expect(String(await open('request_headers', row.request_headers_ciphertext ?? Buffer.alloc(0)))).toBe('headers');
      if (i % 3 === 0) expect(row.configuration_ciphertext).toBeNull();
      else expect(String(await open('configuration', row.configuration_ciphertext ?? Buffer.alloc(0)))).toBe(`c${i}`);
    }
  },
);
