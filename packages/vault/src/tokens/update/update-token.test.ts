import { useStack } from '@sluice/testing';
import {
  createToken,
  deleteToken,
  findToken,
  type Json,
  revealForUse,
  searchTokens,
  updateToken,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);
const number = '4242424242424242';
const card = { type: 'card', data: { number, expiration_month: 12, expiration_year: 2030 } };

describe('a patch', () => {
  test('merges data, mask and metadata, replaces the rest, and leaves what it does not name', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token: before } = await createToken(vault, actor, {
      data: { a: { b: 1, c: [1, 2] }, d: 'x' },
      mask: { a: '{{ data.a.b }}', d: 'no' },
      metadata: { keep: '1', drop: '2' },
      containers: ['/a/'],
      search_indexes: ['{{ data.d }}'],
      expires_at: '2100-01-01',
    });
    const patch = {
      data: { a: { c: [3], e: null }, d: null, f: true },
      mask: { d: null, f: '{{ data.f }}' },
      metadata: { drop: null, add: '3' },
      containers: ['b'],
      id: 'ignored',
      type: 'card',
      unknown: 1,
    };
    const { token, confirmation } = await updateToken(vault, actor, before.id, patch);
    expect(token).toEqual({
      ...before,
      data: { a: { b: 1, c: [3] }, f: true },
      mask: { a: '{{ data.a.b }}', f: '{{ data.f }}' },
      metadata: { keep: '1', add: '3' },
      containers: ['b'],
      fingerprint: expect.not.stringMatching(`^${before.fingerprint}$`),
      modified_by: actor.id,
      modified_at: expect.any(String),
    });
    expect(await findToken(vault, actor, before.id)).toEqual(token);
    expect(confirmation).toMatchObject({ changeId: expect.any(String), waitedMs: expect.any(Number) });
  });

  test('with null takes a member back to its default, and never removes data', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token: before } = await createToken(vault, actor, {
      ...card,
      mask: { number: 'secret' },
      containers: ['/a/'],
      metadata: { a: 'b' },
      search_indexes: ['{{ data.number }}'],
      fingerprint_expression: '{{ data.expiration_year }}',
      expires_at: '2100-01-01',
    });
    const names = ['mask', 'containers', 'metadata', 'search_indexes', 'fingerprint_expression', 'expires_at'];
    const patch = Object.fromEntries([...names, 'deduplicate_token'].map((name) => [name, null]));
    const { token } = await updateToken(vault, actor, before.id, patch);
    const { token: fresh } = await createToken(vault, actor, card);
    const { id, created_at, ...defaults } = fresh;
    expect(token).toMatchObject(defaults);
    for (const name of ['metadata', 'search_indexes', 'fingerprint_expression', 'expires_at']) {
      expect(token).not.toHaveProperty(name);
    }
    await expect(updateToken(vault, actor, before.id, { data: null })).rejects.toMatchObject({
      errors: { data: [expect.any(String)] },
    });
  });

  test('with nothing in it changes nothing but who came last, and data may become any JSON', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: [1, null], metadata: { a: 'b' } });
    const { token: same } = await updateToken(vault, actor, token.id, {});
    expect(same).toEqual({ ...token, modified_by: actor.id, modified_at: expect.any(String) });
    for (const data of ['text', 0, false, { a: 1 }, [{ a: null }]]) {
      expect((await updateToken(vault, actor, token.id, { data })).token.data).toEqual(data);
    }
  });

  test('is one audit row that names the members and no value, and counts nothing twice', async () => {
    const { vault, db, createActor, auditOf } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: 'canary-1' });
    await updateToken(vault, actor, token.id, { data: 'canary-2', metadata: { a: 'b' }, nope: 1 });
    expect(await auditOf(actor, 'update')).toEqual([
      { entity_id: token.id, actor_id: actor.id, trace_id: 'trace', detail: { members: ['data', 'metadata'] } },
    ]);
    const counters = await db
      .selectFrom('counters')
      .select(['counter', 'value'])
      .where('tenant_id', '=', actor.tenantId)
      .orderBy('counter', 'desc')
      .execute();
    expect(counters.map(({ value }) => value)).toEqual([1, 1]);
  });

  test('is seen at once by whoever had the token in memory', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: 0 });
    for (let i = 1; i <= 5; i++) {
      await revealForUse(vault, actor, [token.id]);
      await updateToken(vault, actor, token.id, { data: i });
      expect([...(await revealForUse(vault, actor, [token.id])).values()]).toEqual([i]);
    }
  });

  test('shows data as a read by the same caller would; what shows something of it is a disclosure', async () => {
    const { vault, createActor, disclosures } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, card);
    const { tenantId } = actor;
    disclosures.length = 0;
    const blind = await createActor({ tenantId, permissions: ['token:update'] });
    expect((await updateToken(vault, blind, token.id, { metadata: { a: '1' } })).token).not.toHaveProperty('data');
    expect(disclosures).toEqual([]);
    const masked = await createActor({ tenantId, permissions: ['token:update', 'token:read'] });
    expect((await updateToken(vault, masked, token.id, {})).token.data).toMatchObject({ number: 'XXXXXXXXXXXX4242' });
    expect((await updateToken(vault, actor, token.id, {})).token.data).toEqual(card.data);
    const read = { operation: 'read', entityId: token.id };
    expect(disclosures).toMatchObject([masked, actor].map(({ id }) => ({ ...read, actorId: id })));
  });
});

describe('is refused', () => {
  test.each<[string, Json, string]>([
    ['a card number with a wrong check digit', { data: { number: '4242424242424241' } }, 'data.number'],
    ['a card without its number', { data: { number: null } }, 'data.number'],
    ['a card that is no object', { data: 'hunter2' }, 'data'],
    ['a month that is none', { data: { expiration_month: 13 } }, 'data.expiration_month'],
    ['a number that JSON loses', { data: { note: 12345678901234567000 } }, 'data'],
    ['containers of another shape', { containers: ['hunter2//'] }, 'containers[0]'],
    ['no container', { containers: [] }, 'containers'],
    ['metadata that is no text', { metadata: { a: 1 } }, 'metadata.a'],
    ['metadata with a NUL character', { metadata: { a: 'hunter2\0' } }, 'metadata'],
    ['a mask that cannot be read', { mask: { number: '{{ data.number' } }, 'mask'],
    ['a mask that cannot work on any data', { mask: { number: '{{ data | pad_left: 5000 }}' } }, 'mask'],
    ['a search index without an expression', { search_indexes: ['hunter2'] }, 'search_indexes[0]'],
    [
      'a fingerprint expression over something else',
      { fingerprint_expression: '{{ hunter2 }}' },
      'fingerprint_expression',
    ],
    ['a date that has passed', { expires_at: '2001-01-01' }, 'expires_at'],
    ['a date that is none', { expires_at: 'hunter2' }, 'expires_at'],
    ['deduplicate_token that is no boolean', { deduplicate_token: 'true' }, 'deduplicate_token'],
    ['a patch that is no object', ['hunter2'], '$'],
  ])('%s, naming the member and never the value, and nothing is changed', async (_name, patch, member) => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, card);
    const error = await updateToken(vault, actor, token.id, patch).catch((thrown) => thrown);
    expect([error.code, Object.keys(error.errors)]).toEqual(['validation_failed', [member]]);
    expect(JSON.stringify(error.errors) + error.detail).not.toMatch(/hunter2|4242|12345/);
    expect(await findToken(vault, actor, token.id)).toEqual(token);
  });

  test('what is wrong in it whatever the token, before the token is looked for', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    for (const patch of [{ containers: 1 }, { expires_at: 'x' }, { mask: '{{' }, { data: null }]) {
      await expect(updateToken(vault, actor, 'unknown', patch)).rejects.toMatchObject({ code: 'validation_failed' });
    }
  });

  test('data that grows over 1 MiB, and nesting without end', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: { a: 'x'.repeat(600_000) } });
    const large = { data: { b: 'x'.repeat(600_000) } };
    await expect(updateToken(vault, actor, token.id, large)).rejects.toMatchObject({ code: 'payload_too_large' });
    let deep: Json = 1;
    for (let i = 0; i < 20_000; i++) deep = [deep];
    await expect(updateToken(vault, actor, token.id, { data: deep })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  test('a token that is unknown, another Tenant’s, expired, or impossible: the same 404', async () => {
    const { vault, createActor, expire } = open.current;
    const actor = await createActor();
    const { token: expired } = await createToken(vault, actor, { data: 1 });
    await expire(actor, [expired.id]);
    const { token: foreign } = await createToken(vault, await createActor(), { data: 1 });
    const answers = await Promise.all(
      ['unknown', foreign.id, expired.id, 'a/b', 'x'].map((id) => updateToken(vault, actor, id, {}).catch((e) => e)),
    );
    expect(answers.map(({ code, detail }) => [code, detail])).toEqual(
      answers.map(() => ['not_found', answers[0].detail]),
    );
  });

  test('without token:update on the container that it is in', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, card);
    const { tenantId } = actor;
    for (const grants of [{ permissions: ['token:read'] }, { rules: [{ container: '/bank/' }] }]) {
      const other = await createActor({ tenantId, ...grants });
      await expect(updateToken(vault, other, token.id, {})).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  test.each<[string, string[], string[], string[], boolean]>([
    ['from and to where it is granted', ['/a/', '/b/'], ['/a/'], ['/b/'], true],
    ['to where it is not', ['/a/'], ['/a/'], ['/b/'], false],
    ['from where it is not, though one of its containers is', ['/a/', '/b/'], ['/a/', '/c/'], ['/b/'], false],
    ['leaving alone where it is not', ['/a/', '/b/'], ['/a/', '/c/'], ['c', '/b/'], true],
    ['to one of two where it is not', ['/a/'], ['/a/'], ['/a/', '/b/'], false],
    ['to another spelling of the same', ['/a/'], ['/a/'], ['a'], true],
  ])('a move %s: %j, %j → %j', async (_name, granted, from, to, isAllowed) => {
    const { vault, createActor } = open.current;
    const creator = await createActor();
    const { token } = await createToken(vault, creator, { data: 1, containers: from });
    const rules = granted.map((container) => ({ container, permissions: ['token:update'] }));
    const actor = await createActor({ tenantId: creator.tenantId, rules });
    const moved = updateToken(vault, actor, token.id, { containers: to });
    if (isAllowed) expect((await moved).token.containers).toEqual(to);
    else await expect(moved).rejects.toMatchObject({ code: 'forbidden', detail: expect.stringMatching(/\/[bc]\//) });
  });
});

describe('fingerprints', () => {
  test('go with data and expression, and are left alone by patches of something else', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const [{ token: a }, { token: b }] = [
      await createToken(vault, actor, { data: 'a' }),
      await createToken(vault, actor, { data: 'b' }),
    ];
    expect((await updateToken(vault, actor, a.id, { metadata: { x: 'y' } })).token.fingerprint).toBe(a.fingerprint);
    expect((await updateToken(vault, actor, a.id, { data: 'b' })).token.fingerprint).toBe(b.fingerprint);
    const expression = { fingerprint_expression: '{{ data | upcase }}' };
    const { token: upper } = await updateToken(vault, actor, a.id, expression);
    expect(upper.fingerprint).not.toBe(b.fingerprint);
    expect((await updateToken(vault, actor, a.id, { fingerprint_expression: null })).token.fingerprint).toBe(
      b.fingerprint,
    );
  });

  test('are there after a patch only where the Tenant, the token or the deduplication wants one', async () => {
    const { vault, createActor, createTenant } = open.current;
    const actor = await createActor({ tenantId: await createTenant({ fingerprint_tokens: false }) });
    const { token } = await createToken(vault, actor, { data: 'a' });
    expect((await updateToken(vault, actor, token.id, { data: 'b' })).token).not.toHaveProperty('fingerprint');
    const asked = await updateToken(vault, actor, token.id, { deduplicate_token: true });
    expect(asked.token.fingerprint).toBeTruthy();
    const changed = await updateToken(vault, actor, token.id, { data: 'c' });
    expect(changed.token.fingerprint).not.toBe(asked.token.fingerprint);
    expect(changed.token.fingerprint).toBeTruthy();
  });
});

describe('deduplication', () => {
  test('a patch that would make two equal is a conflict: by the Tenant setting, or by the patch, which decides', async () => {
    const { vault, createActor, createTenant } = open.current;
    const plain = await createActor();
    const strict = await createActor({ tenantId: await createTenant({ deduplicate_tokens: true }) });
    for (const [actor, dedup, outcome] of [
      [strict, undefined, 'conflict'],
      [strict, false, 'done'],
      [plain, true, 'conflict'],
      [plain, undefined, 'done'],
    ] as const) {
      await createToken(vault, actor, { data: 'equal' });
      const { token } = await createToken(vault, actor, { data: Math.random() });
      const patch = { data: 'equal', ...(dedup !== undefined && { deduplicate_token: dedup }) };
      const answer = await updateToken(vault, actor, token.id, patch).then(
        () => 'done',
        (error) => error.code,
      );
      expect([dedup, answer]).toEqual([dedup, outcome]);
    }
  });

  describe('tells an actor to whom the token is not revealed nothing about it', () => {
    async function attack(
      settings: { deduplicate_tokens?: boolean; fingerprint_tokens?: boolean },
      make: (value: string) => object,
      patch: object,
    ): Promise<Record<string, string[]>> {
      const { vault, createActor, createTenant } = open.current;
      const tenantId = await createTenant(settings);
      const owner = await createActor({ tenantId });
      const blind = await createActor({ tenantId, permissions: ['token:update'] });
      const masked = await createActor({ tenantId, rules: [{ transform: 'mask' }] });
      const outcomes: Record<string, string[]> = { blind: [], masked: [], owner: [] };
      for (const [name, actor] of Object.entries({ blind, masked, owner })) {
        for (const value of ['guess', `other ${name}`]) {
          await createToken(vault, owner, { ...make('guess'), deduplicate_token: true });
          const { token } = await createToken(vault, owner, { ...make(value), deduplicate_token: false });
          const outcome = await updateToken(vault, actor, token.id, patch).then(
            () => 'done',
            ({ code, detail }) => `${code} ${detail}`,
          );
          outcomes[name]?.push(outcome);
        }
      }
      return outcomes;
    }

    test.each<
      [string, { deduplicate_tokens?: boolean; fingerprint_tokens?: boolean }, (value: string) => object, object]
    >([
      [
        'by asking for deduplication',
        { fingerprint_tokens: false },
        (value) => ({ data: value }),
        { deduplicate_token: true },
      ],
      [
        'by a part of the data, asking for it',
        { fingerprint_tokens: false },
        (value) => ({ data: { hidden: value, a: 1 } }),
        { data: { a: 1 }, deduplicate_token: true },
      ],
      [
        'by replacing the data, where the Tenant deduplicates',
        { deduplicate_tokens: true },
        (value) => ({ data: value }),
        { data: 'guess' },
      ],
    ])('%s', async (_, settings, make, patch) => {
      const { blind, masked, owner } = await attack(settings, make, patch);
      expect(new Set([...(blind ?? []), ...(masked ?? [])]).size).toBe(1);
      expect(blind?.[0]).toMatch(/^forbidden (data|data.a|deduplicate_token): /);
      expect(owner).not.toContain(blind?.[0]);
    });

    test('the control: who sees the token is told that another is equal', async () => {
      const { owner } = await attack({ fingerprint_tokens: false }, (value) => ({ data: value }), {
        deduplicate_token: true,
      });
      expect(owner?.[0]).toMatch(/^conflict /);
      expect(owner?.[1]).toBe('done');
    });

    test('a card gets a new date from them, and any token new data without deduplication', async () => {
      const { vault, createActor, createTenant } = open.current;
      const tenantId = await createTenant({ deduplicate_tokens: true });
      const owner = await createActor({ tenantId });
      const blind = await createActor({ tenantId, permissions: ['token:update'] });
      const { token } = await createToken(vault, owner, card);
      await updateToken(vault, blind, token.id, { data: { expiration_year: 2031 } });
      await expect(updateToken(vault, blind, token.id, { data: { number } })).rejects.toMatchObject({
        code: 'forbidden',
      });
      const { token: text } = await createToken(vault, owner, { data: 'a' });
      await updateToken(vault, blind, text.id, { data: 'b', deduplicate_token: false });
    });
  });

  test('a token is never equal to itself, an expired one to none, and a patch of metadata makes no two equal', async () => {
    const { vault, createActor, createTenant, expire } = open.current;
    const actor = await createActor({ tenantId: await createTenant({ deduplicate_tokens: true }) });
    const { token } = await createToken(vault, actor, { data: 'equal' });
    const { token: twin } = await createToken(vault, actor, { data: 'equal', deduplicate_token: false });
    await updateToken(vault, actor, token.id, { metadata: { a: 'b' } });
    await updateToken(vault, actor, token.id, { data: 'equal' });
    await expire(actor, [twin.id]);
    await updateToken(vault, actor, token.id, { data: 'other' });
    await updateToken(vault, actor, token.id, { data: 'equal' });
  });

  test('of many patches at once that would make tokens equal, one is done', async () => {
    const { vault, createActor, createTenant } = open.current;
    const actor = await createActor({ tenantId: await createTenant({ deduplicate_tokens: true }) });
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push((await createToken(vault, actor, { data: i })).token.id);
    const outcomes = await Promise.allSettled(ids.map((id) => updateToken(vault, actor, id, { data: 'equal' })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
    }
  });
});

describe('at the same time', () => {
  test('two patches do not undo each other', async () => {
    const { vault, createActor, auditOf } = open.current;
    const actor = await createActor();
    const { token } = await createToken(vault, actor, { data: {} });
    const members = ['a', 'b', 'c', 'd'];
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        members.map((member) =>
          updateToken(vault, actor, token.id, { data: { [member]: round }, metadata: { [member]: String(round) } }),
        ),
      );
      const { data, metadata } = await findToken(vault, actor, token.id);
      expect(data).toEqual(Object.fromEntries(members.map((member) => [member, round])));
      expect(metadata).toEqual(Object.fromEntries(members.map((member) => [member, String(round)])));
    }
    expect(await auditOf(actor, 'update')).toHaveLength(20);
  });

  test('a patch of a token that is being deleted does not bring it back', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    for (let round = 0; round < 10; round++) {
      const { token } = await createToken(vault, actor, { data: 1 });
      const [patched, deleted] = await Promise.allSettled([
        updateToken(vault, actor, token.id, { data: 2 }),
        deleteToken(vault, actor, token.id),
      ]);
      expect(deleted.status).toBe('fulfilled');
      if (patched.status === 'rejected') expect(patched.reason).toMatchObject({ code: 'not_found' });
      await expect(findToken(vault, actor, token.id)).rejects.toMatchObject({ code: 'not_found' });
    }
    const { total } = await searchTokens(vault, actor, { query: 'type:token', page: 1, size: 1 });
    expect(total).toBe(0);
  });
});
