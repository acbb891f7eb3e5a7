import { randomBytes, randomUUID } from 'node:crypto';
import type { AccessRule } from '@sluice/access';
import type { Disclosure } from '@sluice/audit';
import { tagOf } from '@sluice/cache-coherence';
import { readCounter } from '@sluice/database';
import { openTestCoherence, openTestDatabase, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import {
  type Actor,
  assembleVault,
  createToken,
  deleteToken,
  destroyTenantKeys,
  detokenize,
  detokenizeEach,
  findToken,
  IntegrityError,
  type Json,
  localKeyWrapper,
  readTokenUsage,
  revealForUse,
  tokenize,
  updateToken,
} from './index.ts';

const open = useStack(async (stack) => {
  const database = await openTestDatabase(stack);
  const { db } = database;
  const { caches, changes } = await openTestCoherence(database, stack);
  const disclosures: Disclosure[] = [];
  const time = { now: new Date() };
  const keyWrapper = localKeyWrapper(randomBytes(32).toString('base64'));
  const log = { record: async (disclosure: Disclosure) => void disclosures.push(disclosure) };
  const options = { db, keyWrapper, caches, changes, disclosures: log, clock: () => time.now };
  const anotherVault = async () => assembleVault({ ...options, ...(await openTestCoherence(database, stack)) });
  return { db, disclosures, time, caches, vault: assembleVault(options), anotherVault };
});

const allPermissions = ['token:create', 'token:read', 'token:use', 'token:delete'];

async function createActor(grants: { permissions?: string[]; rules?: Partial<AccessRule>[] } = {}): Promise<Actor> {
  const tenantId = randomUUID();
  await open.current.db.insertInto('tenants').values({ id: tenantId, owner_id: randomUUID(), name: 'T' }).execute();
  return actorIn(tenantId, grants);
}

function actorIn(
  tenantId: string,
  { permissions = allPermissions, rules = [] }: { permissions?: string[]; rules?: Partial<AccessRule>[] } = {},
): Actor {
  const full = rules.map(
    (rule): AccessRule => ({ priority: 1, container: '/', transform: 'redact', permissions: allPermissions, ...rule }),
  );
  return { id: randomUUID(), tenantId, traceId: 'trace', permissions, rules: full };
}

const revealing = { permissions: [], rules: [{ transform: 'reveal' as const }] };
const number = '4242424242424242';
const card = { type: 'card', data: { number, expiration_month: 12, expiration_year: 2030, cvc: '123' } };

async function auditOf(actor: Actor) {
  return open.current.db
    .selectFrom('audit_log')
    .select(['operation', 'entity_id', 'actor_id', 'trace_id'])
    .where('tenant_id', '=', actor.tenantId)
    .orderBy('operation')
    .execute();
}

describe('createToken', () => {
  test('stores a card with the defaults of its type, counted and audited', async () => {
    const { vault, db, time } = open.current;
    const actor = await createActor();
    const { token, created } = await createToken(vault, actor, card);
    expect(created).toBe(true);
    expect(token).toMatchObject({
      type: 'card',
      tenant_id: actor.tenantId,
      containers: ['/pci/high/'],
      data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
      created_by: actor.id,
    });
    expect(Object.keys(token).sort()).toEqual(
      ['id', 'type', 'tenant_id', 'data', 'mask', 'containers', 'fingerprint', 'created_by', 'created_at'].sort(),
    );
    expect(await auditOf(actor)).toEqual([
      { operation: 'create', entity_id: token.id, actor_id: actor.id, trace_id: 'trace' },
    ]);
    expect(await readTokenUsage(db, actor.tenantId, time.now)).toEqual({
      metrics_by_type: {
        token: { count: 0 },
        card: { count: 1, last_created_at: token.created_at },
        bank: { count: 0 },
      },
      monthly_active_tokens: 1,
    });
  });

  test('answers what the creator may read: nothing, the mask, or plaintext', async () => {
    const { vault } = open.current;
    const blind = await createActor({ permissions: ['token:create'] });
    expect((await createToken(vault, blind, card)).token).not.toHaveProperty('data');
    const seeing = actorIn(blind.tenantId, revealing);
    expect((await createToken(vault, seeing, card)).token.data).toEqual(card.data);
  });

  test('the stored row holds no plaintext', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: 'canary-value', metadata: { a: 'b' } });
    const { rows } = await sql<{ text: string; bytes: Buffer }>`
      select to_jsonb(tokens)::text as text, data_ciphertext as bytes from tokens where id = ${token.id}`.execute(db);
    expect(rows[0]?.text).not.toContain('canary-value');
    expect(rows[0]?.bytes.includes('canary-value')).toBe(false);
    expect(rows[0]?.bytes.length).toBeGreaterThan(33);
  });

  test('keeps every member that was given', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const input = {
      id: "my token's id",
      data: { a: [1, 'é\u0000', null] },
      mask: { a: 'no. {{ data.a[0] }}' },
      containers: ['/a/b', 'c'],
      metadata: { user: 'x' },
      search_indexes: ['{{ data.a[1] }}'],
      fingerprint_expression: '{{ data.a[0] }}',
      expires_at: '2100-01-01',
    };
    const { token } = await createToken(vault, actor, { ...input, unknown: 1, type: null });
    const expected = { ...input, type: 'token', expires_at: '2100-01-01T00:00:00.000Z' };
    expect(token).toMatchObject(expected);
    expect(await findToken(vault, actor, input.id)).toEqual(token);
  });

  test('an id that is taken in the Tenant is a conflict; in another Tenant it is free', async () => {
    const { vault } = open.current;
    const actor = await createActor();
    await createToken(vault, actor, { id: 'same-id', data: 1 });
    await expect(createToken(vault, actor, { id: 'same-id', data: 2 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(createToken(vault, await createActor(), { id: 'same-id', data: 1 })).resolves.toBeTruthy();
    expect(await auditOf(actor)).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ['no object', 'text', '$'],
    ['no data', { type: 'token' }, 'data'],
    ['an unknown type', { type: 'nope', data: 1 }, 'type'],
    ['data of another type', { type: 'card', data: { number: '1' } }, 'data.number'],
    ['a short id', { id: 'ab', data: 1 }, 'id'],
    ['a refused character', { id: 'a/bc', data: 1 }, 'id'],
    ['a control character', { id: 'a\u0000bc', data: 1 }, 'id'],
    ['outer spaces', { id: ' abc', data: 1 }, 'id'],
    ['no container', { data: 1, containers: [] }, 'containers'],
    ['a bad container', { data: 1, containers: ['/a b/'] }, 'containers[0]'],
    ['metadata of another kind', { data: 1, metadata: { a: 1 } }, 'metadata.a'],
    ['NUL in metadata', { data: 1, metadata: { a: '\u0000' } }, 'metadata'],
    ['a lone surrogate in a mask', { data: 1, mask: '\ud800' }, 'mask'],
    ['a malformed mask', { data: 1, mask: { a: ['{{ data '] } }, 'mask'],
    ['a mask over something else', { data: 1, mask: '{{ other }}' }, 'mask'],
    ['a mask with too many expressions', { data: 1, mask: '{{ data }}'.repeat(51) }, 'mask'],
    ['a mask that grows', { data: 'x'.repeat(100_000), mask: '{{ data }}'.repeat(20) }, 'mask'],
    ['a fingerprint without expression', { data: 1, fingerprint_expression: 'x' }, 'fingerprint_expression'],
    ['an index that does not parse', { data: 1, search_indexes: ['{{ data | nope }}'] }, 'search_indexes[0]'],
    ['a number that JSON loses', { data: JSON.parse('{"pan":[12345678901234567890]}') }, 'data'],
    ['a number that is infinite', { data: JSON.parse('1e400') }, 'data'],
    ['an unreadable date', { data: 1, expires_at: '2100-02-30' }, 'expires_at'],
    ['a date beyond the year 9999', { data: 1, expires_at: '9999-12-31T23:59:59-14:00' }, 'expires_at'],
    ['a date in the past', { data: 1, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('refuses %s and names the member', async (_, input, path) => {
    const { vault } = open.current;
    await expect(createToken(vault, await createActor(), input)).rejects.toMatchObject({
      code: 'validation_failed',
      errors: { [path]: [expect.any(String)] },
    });
  });

  test('a refused id, and a refused container, say which form they must have', async () => {
    const { vault } = open.current;
    await expect(createToken(vault, await createActor(), { id: 'a/bc', data: 1 })).rejects.toMatchObject({
      errors: { id: [expect.stringMatching(/^must have 3 to 400 characters, .* none of # \/ /)] },
    });
    await expect(createToken(vault, await createActor(), { data: 1, containers: ['/a b/'] })).rejects.toMatchObject({
      errors: {
        'containers[0]': ['must be names of letters, digits, _ and -, with slashes between them, such as /pci/high/'],
      },
    });
  });

  test('data without end in depth or size is the fault of the caller', async () => {
    const { vault } = open.current;
    const actor = await createActor();
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    await expect(createToken(vault, actor, { data: deep })).rejects.toMatchObject({ code: 'validation_failed' });
    const large = 'x'.repeat(1024 * 1024);
    await expect(createToken(vault, actor, { data: large })).rejects.toMatchObject({ code: 'payload_too_large' });
    await expect(createToken(vault, actor, { data: large.slice(2) })).resolves.toBeTruthy();
  });

  test('needs token:create on each container', async () => {
    const { vault } = open.current;
    const actor = await createActor({ permissions: [], rules: [{ container: '/a/' }] });
    await expect(createToken(vault, actor, { data: 1, containers: ['/a/x/'] })).resolves.toBeTruthy();
    await expect(createToken(vault, actor, { data: 1, containers: ['/a/', '/b/'] })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(createToken(vault, await createActor({ permissions: ['token:read'] }), card)).rejects.toMatchObject({
      code: 'forbidden',
      detail: 'This operation needs the permission token:create',
    });
  });

  test('a Tenant that is closed gets neither tokens nor keys', async () => {
    const { vault, db } = open.current;
    const [used, unused] = [await createActor(), await createActor()];
    await createToken(vault, used, card);
    for (const { tenantId } of [used, unused]) {
      await db.transaction().execute(async (tx) => {
        await tx
          .updateTable('tenants')
          .set({ closed_at: new Date().toISOString() })
          .where('id', '=', tenantId)
          .execute();
        await destroyTenantKeys(tx, tenantId);
      });
    }
    for (const actor of [used, unused]) {
      await expect(createToken(vault, actor, card)).rejects.toMatchObject({ code: 'unauthenticated' });
      const keys = db.selectFrom('data_keys').select('version').where('tenant_id', '=', actor.tenantId);
      expect(await keys.execute()).toEqual([]);
    }
  });
});

describe('fingerprints', () => {
  test('are equal for equal data of one type and Tenant only', async () => {
    const { vault } = open.current;
    const [actor, other] = [await createActor(), await createActor()];
    const fingerprint = async (as: Actor, input: unknown) => (await createToken(vault, as, input)).token.fingerprint;
    const first = await fingerprint(actor, card);
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(await fingerprint(actor, { ...card, data: { number } })).toBe(first);
    expect(await fingerprint(actor, { ...card, fingerprint_expression: '{{ data.number }}' })).toBe(first);
    expect(await fingerprint(actor, { type: 'card_number', data: number })).not.toBe(first);
    expect(await fingerprint(other, card)).not.toBe(first);
  });

  test('are left out where the Tenant does not want them, but for tokens with an expression', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    await db.updateTable('tenants').set({ fingerprint_tokens: false }).where('id', '=', actor.tenantId).execute();
    expect((await createToken(vault, actor, card)).token).not.toHaveProperty('fingerprint');
    const { token } = await createToken(vault, actor, { ...card, fingerprint_expression: '{{ data.number }}' });
    expect(token.fingerprint).toBeTruthy();
  });
});

describe('deduplication', () => {
  test('by the Tenant setting and by the token; the token decides', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const first = await createToken(vault, actor, card);
    const asked = await createToken(vault, actor, { ...card, deduplicate_token: true });
    expect(asked).toMatchObject({ created: false, token: { id: first.token.id } });
    await db.updateTable('tenants').set({ deduplicate_tokens: true }).where('id', '=', actor.tenantId).execute();
    expect(await createToken(vault, actor, card)).toMatchObject({ created: false, token: { id: first.token.id } });
    expect((await createToken(vault, actor, { ...card, deduplicate_token: false })).created).toBe(true);
    expect((await createToken(vault, actor, { data: number })).created).toBe(true);
  });

  test('fingerprints by default where none would be', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    await db.updateTable('tenants').set({ fingerprint_tokens: false }).where('id', '=', actor.tenantId).execute();
    const one = await createToken(vault, actor, { ...card, deduplicate_token: true });
    const two = await createToken(vault, actor, { ...card, deduplicate_token: true });
    expect(one.created).toBe(true);
    expect(two).toMatchObject({ created: false, token: { id: one.token.id } });
  });

  test('tells an actor that may not read the token only that it is there', async () => {
    const { vault } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { ...card, metadata: { a: 'b' } });
    const blind = actorIn(actor.tenantId, { permissions: ['token:create'] });
    const again = await createToken(vault, blind, { ...card, deduplicate_token: true });
    expect(Object.keys(again.token).sort()).toEqual(['containers', 'fingerprint', 'id', 'tenant_id', 'type']);
    expect(again.token.id).toBe(token.id);
  });

  test('leaves one of many that are created at once, also within one request', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const input = { ...card, deduplicate_token: true };
    await createToken(vault, actor, { data: 'so that the keys are there' });
    // Open eight connections first, so that the creations really run concurrently.
    await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.1)`.execute(db)));
    const results = await Promise.all(Array.from({ length: 8 }, () => createToken(vault, actor, input)));
    expect(new Set(results.map(({ token }) => token.id)).size).toBe(1);
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    const other = { ...input, data: { number: '5555555555554444' } };
    const answer = (await tokenize(vault, actor, [input, other, other])) as { id: string }[];
    expect(answer[0]?.id).toBe(results[0]?.token.id);
    expect(answer[1]?.id).toBe(answer[2]?.id);
  });

  test('plaintext of an equal token is a disclosure', async () => {
    const { vault, disclosures } = open.current;
    const actor = await createActor(revealing);
    const { token } = await createToken(vault, actor, card);
    disclosures.length = 0;
    await createToken(vault, actor, { type: 'card', data: { number }, deduplicate_token: true });
    expect(disclosures).toMatchObject([{ operation: 'read', detail: { token_ids: [token.id] } }]);
  });
});

describe('findToken', () => {
  test('gives data as the rule says, and notes what shows something of it', async () => {
    const { vault, disclosures } = open.current;
    const creator = await createActor();
    const { token } = await createToken(vault, creator, card);
    const as = (transform: AccessRule['transform']) =>
      actorIn(creator.tenantId, { permissions: [], rules: [{ transform }] });
    disclosures.length = 0;
    expect(await findToken(vault, as('redact'), token.id)).not.toHaveProperty('data');
    expect(disclosures).toEqual([]);
    const masked = as('mask');
    expect((await findToken(vault, masked, token.id)).data).toMatchObject({ number: 'XXXXXXXXXXXX4242' });
    expect(disclosures).toMatchObject([{ operation: 'read', actorId: masked.id, entityId: token.id }]);
    disclosures.length = 0;
    const reader = as('reveal');
    expect((await findToken(vault, reader, token.id)).data).toEqual(card.data);
    expect(disclosures).toEqual([
      {
        tenantId: reader.tenantId,
        actorId: reader.id,
        actorType: 'application',
        traceId: 'trace',
        operation: 'read',
        entityType: 'token',
        entityId: token.id,
        detail: { token_ids: [token.id] },
      },
    ]);
  });

  test('notes what a mask of somebody’s own shows, which may be all', async () => {
    const { vault, disclosures } = open.current;
    const actor = await createActor({ permissions: ['token:create', 'token:read', 'token:update'] });
    const { token } = await createToken(vault, actor, { ...card, mask: { number: '{{ data.number }}' } });
    disclosures.length = 0;
    const { token: updated } = await updateToken(vault, actor, token.id, { metadata: { a: 'b' } });
    expect(updated.data).toMatchObject({ number: card.data.number });
    expect((await findToken(vault, actor, token.id)).data).toEqual(updated.data);
    expect(disclosures.map(({ entityId }) => entityId)).toEqual([token.id, token.id]);
  });

  test('a mask that there is not is no data', async () => {
    const { vault } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: 'secret' });
    expect(await findToken(vault, actor, token.id)).not.toHaveProperty('data');
  });

  test('what cannot be noted is not disclosed', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const { token } = await createToken(vault, actor, card);
    const full = {
      record: async () => {
        throw new Error('the queue is full');
      },
    };
    await expect(findToken({ ...vault, disclosures: full }, actor, token.id)).rejects.toThrow('the queue is full');
  });

  test('unknown, another Tenant’s, expired and impossible ids are the same 404', async () => {
    const { vault, db } = open.current;
    const [actor, other] = [await createActor(), await createActor()];
    const { token } = await createToken(vault, other, card);
    const expired = await createToken(vault, actor, { data: 1, expires_at: '2100-01-01' });
    const past = new Date(0).toISOString();
    await db.updateTable('tokens').set({ expires_at: past }).where('id', '=', expired.token.id).execute();
    const errors = await Promise.all(
      [randomUUID(), token.id, expired.token.id, 'a\u0000b', 'x'].map((id) =>
        findToken(vault, actor, id).catch((e) => e),
      ),
    );
    for (const error of errors) expect(error).toMatchObject({ code: 'not_found', detail: errors[0].detail });
  });

  test('a token outside of the caller’s containers is 403', async () => {
    const { vault } = open.current;
    const creator = await createActor();
    const { token } = await createToken(vault, creator, card);
    const reader = actorIn(creator.tenantId, { permissions: [], rules: [{ container: '/bank/' }] });
    await expect(findToken(vault, reader, token.id)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('ciphertexts that were tampered with', () => {
  async function twoTokens(actor: Actor) {
    const { vault } = open.current;
    const create = async (data: Json) => (await createToken(vault, actor, { data })).token.id;
    return [await create('one'), await create('two')] as const;
  }

  async function copyCiphertext({ tenantId }: Actor, from: string, to: string) {
    await sql`update tokens set data_ciphertext = (select data_ciphertext from tokens where id = ${from})
      where id = ${to}`.execute(open.current.db);
    open.current.caches.drop([tagOf.token(tenantId, to)]);
  }

  test('copied to another record of the Tenant does not open; copied back it does', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const [one, two] = await twoTokens(actor);
    await createToken(vault, actor, { id: 'keeper', data: 'x' });
    await copyCiphertext(actor, one, 'keeper');
    await copyCiphertext(actor, two, one);
    await expect(findToken(vault, actor, one)).rejects.toThrow(IntegrityError);
    await expect(revealForUse(vault, actor, [one])).rejects.toThrow(IntegrityError);
    await copyCiphertext(actor, 'keeper', one);
    expect((await findToken(vault, actor, one)).data).toBe('one');
    expect(await revealForUse(vault, actor, [one])).toEqual(new Map([[one, 'one']]));
  });

  test('copied to another Tenant does not open, though id and key version are the same', async () => {
    const { vault, db } = open.current;
    const [actor, other] = [await createActor(revealing), await createActor(revealing)];
    for (const as of [actor, other]) await createToken(vault, as, { id: 'twin-token', data: as.tenantId });
    await sql`update tokens set data_ciphertext =
      (select data_ciphertext from tokens where tenant_id = ${other.tenantId} and id = 'twin-token')
      where tenant_id = ${actor.tenantId} and id = 'twin-token'`.execute(db);
    await expect(findToken(vault, actor, 'twin-token')).rejects.toThrow(IntegrityError);
  });

  test('a flipped bit is refused', async () => {
    const { vault, db } = open.current;
    const actor = await createActor(revealing);
    const [one] = await twoTokens(actor);
    await sql`update tokens set data_ciphertext = set_bit(data_ciphertext, 300, 1 - get_bit(data_ciphertext, 300))
      where id = ${one}`.execute(db);
    await expect(findToken(vault, actor, one)).rejects.toThrow(IntegrityError);
  });

  test('without its data key, a token is unreadable for ever', async () => {
    const { vault, db } = open.current;
    const actor = await createActor(revealing);
    const [one] = await twoTokens(actor);
    await db.transaction().execute((tx) => destroyTenantKeys(tx, actor.tenantId));
    const restarted = await open.current.anotherVault();
    await expect(findToken(restarted, actor, one)).rejects.toThrow(IntegrityError);
    expect((await findToken(vault, actor, one)).data).toBe('one');
  });
});

describe('deleteToken', () => {
  test('deletes, uncounts and audits, once', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, card);
    await deleteToken(vault, actor, token.id);
    await expect(deleteToken(vault, actor, token.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await readCounter(db, actor.tenantId, 'tokens:card')).toBe(0);
    expect((await auditOf(actor)).map(({ operation }) => operation)).toEqual(['create', 'delete']);
  });

  test('needs token:delete on the container', async () => {
    const { vault } = open.current;
    const creator = await createActor();
    const { token } = await createToken(vault, creator, card);
    const rule = { container: '/bank/', permissions: ['token:delete'] };
    const actor = actorIn(creator.tenantId, { permissions: [], rules: [rule] });
    await expect(deleteToken(vault, actor, token.id)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(deleteToken(vault, actorIn((await createActor()).tenantId), token.id)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('tokenize and detokenize', () => {
  const document: Json = { name: 'Ada', tags: ['x', 5, true, null], nested: { a: { b: ['y'] } }, empty: {}, text: '' };

  test('replace and restore a document', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const tokenized = (await tokenize(vault, actor, document)) as { name: string; tags: Json[]; empty: Json };
    expect(tokenized.name).toMatch(/^[0-9a-f-]{36}$/);
    expect(tokenized.tags[3]).toBeNull();
    expect(tokenized.empty).toEqual({});
    const expressions = JSON.parse(JSON.stringify(tokenized).replaceAll(/"([0-9a-f-]{36})"/g, '"{{ $1 }}"'));
    expect(await detokenize(vault, actor, expressions)).toEqual(document);
  });

  test('an object with type and data becomes its token, with its other members', async () => {
    const { vault } = open.current;
    const actor = await createActor();
    const answer = await tokenize(vault, actor, { payment: { ...card, id: 'my-card', metadata: { a: 'b' } }, n: 1 });
    expect(answer).toMatchObject({
      payment: { id: 'my-card', type: 'card', metadata: { a: 'b' }, data: { number: 'XXXXXXXXXXXX4242' } },
      n: expect.any(String),
    });
    expect(await tokenize(vault, actor, 'text')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('all or nothing, with the path of the fault', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const wrong = { ok: 'value', list: [{ a: { type: 'card', data: { number: '1' } } }] };
    await expect(tokenize(vault, actor, wrong)).rejects.toMatchObject({
      errors: { 'list[0].a.data.number': [expect.any(String)] },
    });
    const taken = [{ type: 'token', id: 'taken-id', data: 1 }, 'value', { type: 'token', id: 'taken-id', data: 2 }];
    await expect(tokenize(vault, actor, taken)).rejects.toMatchObject({ code: 'conflict' });
    const tokens = db.selectFrom('tokens').select('id').where('tenant_id', '=', actor.tenantId);
    expect(await tokens.execute()).toEqual([]);
    expect(await auditOf(actor)).toEqual([]);
  });

  test('five thousand tokens in one request, and no more', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const answer = (await tokenize(vault, actor, Array(5000).fill('x'))) as string[];
    expect(new Set(answer).size).toBe(5000);
    expect(await readCounter(db, actor.tenantId, 'tokens:token')).toBe(5000);
    await expect(tokenize(vault, actor, Array(5001).fill('x'))).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('detokenize gives data as the rule says, and notes what shows something of it once', async () => {
    const { vault, disclosures } = open.current;
    const creator = await createActor();
    const [one, two] = [
      (await createToken(vault, creator, card)).token.id,
      (await createToken(vault, creator, { data: 'Ada' })).token.id,
    ];
    const rules = [
      { container: '/pci/', transform: 'mask' as const },
      { container: '/', priority: 2, transform: 'reveal' as const },
    ];
    const actor = actorIn(creator.tenantId, { permissions: [], rules });
    disclosures.length = 0;
    const body = { a: `{{ ${one} | json: '$.number' }}`, b: [`Dear {{ ${two} }}, {{ ${two} | upcase }}`], c: '{ }}' };
    expect(await detokenize(vault, actor, body)).toEqual({ a: 'XXXXXXXXXXXX4242', b: ['Dear Ada, ADA'], c: '{ }}' });
    expect(disclosures).toMatchObject([
      { operation: 'read', detail: { token_ids: expect.arrayContaining([one, two]) } },
    ]);
    const redacting = actorIn(creator.tenantId, { permissions: [], rules: [{ transform: 'redact' }] });
    expect(await detokenize(vault, redacting, [`{{ ${one} | last4 }}`, `x{{ ${two} }}`])).toEqual([null, 'x']);
    expect(disclosures).toHaveLength(1);
  });

  test('what a token holds is not read as an expression again', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const { token } = await createToken(vault, actor, { data: '{{ other-token }}' });
    expect(await detokenize(vault, actor, `{{${token.id}}}`)).toBe('{{ other-token }}');
  });

  test('refuses unknown and forbidden tokens by name, too many, and malformed expressions', async () => {
    const { vault } = open.current;
    const creator = await createActor();
    const { token } = await createToken(vault, creator, card);
    const elsewhere = actorIn(creator.tenantId, { permissions: [], rules: [{ container: '/x/' }] });
    await expect(detokenize(vault, elsewhere, `{{ ${token.id} }}`)).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining(token.id),
    });
    await expect(detokenize(vault, creator, ['{{ no-such }}', '{{ a\u0000b }}'])).rejects.toMatchObject({
      code: 'bad_request',
      detail: expect.stringContaining('no-such'),
    });
    await expect(detokenize(vault, creator, { a: ['x', { 'b c': 'y {{ }}' }] })).rejects.toMatchObject({
      code: 'bad_request',
      detail: "The expression at character 2 of $.a[1]['b c'] is not valid: it is empty",
    });
    const wrong = ['{{ }}', `{{ ${token.id} | nope }}`, '{{ no-such }}'];
    await expect(detokenize(vault, elsewhere, wrong)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(detokenize(vault, creator, wrong)).rejects.toMatchObject({
      detail: expect.stringContaining('it is empty'),
    });
    const many = Array.from({ length: 101 }, (_, i) => `{{ token-${i} }}`);
    await expect(detokenize(vault, creator, many)).rejects.toMatchObject({
      detail: expect.stringContaining('at most 100'),
    });
  });

  test('a small document cannot ask for a huge one', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const { token } = await createToken(vault, actor, { data: 'x'.repeat(500_000) });
    await expect(detokenize(vault, actor, Array(20).fill(`{{ ${token.id} }}`))).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });

  test('what filters make of a value decides about no error: where they fail or there is no room, there is nothing', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const { token: large } = await createToken(vault, actor, { data: 'x'.repeat(1_000_000) });
    const { token: text } = await createToken(vault, actor, { data: 'hunter2' });
    const plain = Array(5).fill(`{{ ${large.id} }}`);
    const filtered = [`{{ ${large.id} | upcase }}`, `-{{ ${text.id} | to_number }}-`, `{{ ${text.id} | upcase }}`];
    const answer = await detokenize(vault, actor, [...filtered, ...plain]);
    expect(answer).toEqual([null, '--', 'HUNTER2', ...Array(5).fill('x'.repeat(1_000_000))]);
    const spent = await detokenize(vault, actor, Array(20).fill(`{{ ${large.id} | last4 }}`));
    expect([spent].flat()).toEqual([...Array(8).fill('xxxx'), ...Array(12).fill(null)]);
  });

  test('values that are detokenized together do not take from each other', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const { token } = await createToken(vault, actor, { data: 'x'.repeat(1_000_000) });
    const each = Array(4).fill(`{{ ${token.id} | last4 }}`);
    const answers = await detokenizeEach(vault, actor, Array(4).fill(each));
    expect(answers).toEqual(Array(4).fill(Array(4).fill('xxxx')));
  });

  slow('0.5 s')('many expressions are read and filled in in pieces, between which others may run', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const { token } = await createToken(vault, actor, { data: 'v' });
    const piecesOf = async (value: Json) => {
      let pieces = 0;
      const inPieces = async <T>(work: Generator<void, T, void>): Promise<T> => {
        for (;;) {
          const { done, value: result } = work.next();
          if (done) return result;
          pieces += 1;
        }
      };
      const [answer] = await detokenizeEach(vault, actor, [value], { inPieces });
      expect(answer).toEqual(await detokenize(vault, actor, value));
      return pieces;
    };
    const expression = `{{ ${token.id} | append: 'x' }}`;
    expect(await piecesOf(expression.repeat(10))).toBe(0);
    expect(await piecesOf(expression.repeat(5000))).toBeGreaterThanOrEqual(300);
    expect(await piecesOf(Array.from({ length: 5000 }, (_, at) => `${at}${expression}`))).toBeGreaterThanOrEqual(300);
  });

  test('a large document of small expressions is refused before it is read to the end', async () => {
    const { vault } = open.current;
    const actor = await createActor(revealing);
    const texts = Array.from({ length: 10_001 }, (_, i) => `{{ one-token }} ${i}`);
    await expect(detokenize(vault, actor, texts)).rejects.toMatchObject({
      code: 'bad_request',
      detail: expect.stringContaining('10000 strings'),
    });
  });
});

describe('revealForUse', () => {
  test('gives plaintext whatever the transform, and leaves the record to the caller', async () => {
    const { vault, disclosures } = open.current;
    const actor = await createActor({ permissions: ['token:create', 'token:use'] });
    const [one, two] = [
      (await createToken(vault, actor, card)).token.id,
      (await createToken(vault, actor, { data: [1] })).token.id,
    ];
    disclosures.length = 0;
    expect(await revealForUse(vault, actor, [one, two, one])).toEqual(
      new Map<string, Json>([
        [one, card.data],
        [two, [1]],
      ]),
    );
    expect(await revealForUse(vault, actor, [])).toEqual(new Map());
    expect(disclosures).toEqual([]);
  });

  test('names what is unknown, expired or another Tenant’s, and what may not be used', async () => {
    const { vault, db } = open.current;
    const actor = await createActor();
    const foreign = (await createToken(vault, await createActor(), card)).token.id;
    const expired = (await createToken(vault, actor, { data: 1, expires_at: '2100-01-01' })).token.id;
    await db
      .updateTable('tokens')
      .set({ expires_at: new Date(0).toISOString() })
      .where('id', '=', expired)
      .execute();
    const known = (await createToken(vault, actor, card)).token.id;
    const revealAs = async (who: typeof actor, ids: string[]) => revealForUse(vault, who, ids);
    const error = await revealAs(actor, [known, foreign, expired, 'nope', 'a\u0000b']).catch((e) => e);
    expect(error).toMatchObject({ code: 'invalid_proxy_request' });
    for (const id of [foreign, expired, 'nope']) expect(error.detail).toContain(id);
    expect(error.detail).not.toContain(known);
    const reader = actorIn(actor.tenantId, { permissions: ['token:read'] });
    await expect(revealAs(reader, [known])).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining(known),
    });
  });
});

describe('monthly activity', () => {
  test('a token counts once a month, by the first read or use, however many come at once', async () => {
    const { vault, db, time } = open.current;
    const actor = await createActor(revealing);
    const ids = (await tokenize(vault, actor, ['a', 'b', 'c'])) as string[];
    const before = time.now;
    time.now = new Date(Date.UTC(before.getUTCFullYear() + 1, 5, 1));
    try {
      const usage = async () => (await readTokenUsage(db, actor.tenantId, time.now)).monthly_active_tokens;
      expect(await usage()).toBe(0);
      await Promise.all(Array.from({ length: 10 }, () => revealForUse(vault, actor, ids.slice(0, 2))));
      await findToken(vault, actor, ids[0] ?? '');
      expect(await usage()).toBe(2);
      await detokenize(vault, actor, `{{ ${ids[2]} }}`);
      expect(await usage()).toBe(3);
      expect((await readTokenUsage(db, actor.tenantId, before)).monthly_active_tokens).toBe(3);
    } finally {
      time.now = before;
    }
  });
});
