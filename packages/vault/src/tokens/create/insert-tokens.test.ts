import { useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { createToken, tokenize } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import type { Actor } from '../token.ts';

const single = useStack((stack) => openTestVault(stack));
const onShards = useStack((stack) => openTestVault(stack, { tokensOnShards: true }));

const later = new Date(Date.now() + 3_600_000).toISOString();
const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };
const inputs = [
  { data: 'plain' },
  { data: 'plain', expires_at: later, containers: ['/a/', '/b/'], metadata: { a: 'b' } },
  { data: { a: 'indexed' }, fingerprint_expression: '{{ data.a }}', search_indexes: ['{{ data.a }}'] },
  { data: 'plain', deduplicate_token: true, mask: null },
  { data: 'plain', deduplicate_token: false },
  { ...card, expires_at: later },
];

async function storedBy(
  { vault, db, createTenant, createActor }: Awaited<ReturnType<typeof openTestVault>>,
  settings: { fingerprint_tokens: boolean; deduplicate_tokens: boolean },
) {
  const tenantId = await createTenant(settings);
  const actor: Actor = { ...(await createActor({ tenantId })), applicationId: 'of the session' };
  for (const [i, input] of inputs.entries()) await createToken(vault, actor, { ...input, id: `token ${i}` });
  await tokenize(vault, actor, [
    { type: 'token', data: 1, id: 'first' },
    { ...card, id: 'second' },
  ]);
  const { rows } = await sql<{ table: string; row: Record<string, unknown> }>`
    select 'tokens' as table, (to_jsonb(tokens) || jsonb_build_object('fingerprint', fingerprint is not null,
      'cvc_ciphertext', cvc_ciphertext is not null, 'created_by', created_by = ${actor.id})) - ${varying}::text[] as row
    from tokens where tenant_id = ${tenantId}
    union all
    select 'counters', jsonb_build_object('counter', counter, 'value', sum(value), 'is_of_last_token',
      max(last_at) = (select max(created_at) from tokens where tenant_id = ${tenantId} and counter = 'tokens:' || type))
    from counters where tenant_id = ${tenantId} group by counter
    union all
    select 'audit_log', to_jsonb(audit_log) - ${varying}::text[] from audit_log where tenant_id = ${tenantId}
    union all
    select 'due_tokens', jsonb_build_object('kind', kind) from due_tokens where tenant_id = ${tenantId}
    order by 1, 2
  `.execute(db);
  return rows;
}

const varying = [
  ...['id', 'tenant_id', 'actor_id', 'at', 'created_at', 'cvc_due_at', 'data_ciphertext', 'search_hashes'],
  'search_terms',
];

test.each([
  { fingerprint_tokens: true, deduplicate_tokens: false, made: 7 },
  { fingerprint_tokens: false, deduplicate_tokens: false, made: 8 },
  { fingerprint_tokens: false, deduplicate_tokens: true, made: 5 },
])('one statement stores what statements of one place each do: %o', async ({ made, ...settings }) => {
  const inOne = await storedBy(single.current, settings);
  expect(inOne.filter(({ table }) => table === 'tokens')).toHaveLength(made);
  expect(await storedBy(onShards.current, settings)).toEqual(inOne);
});

test.each(['single', 'onShards'] as const)('a Tenant that is closed gets no token: %s', async (form) => {
  const { vault, db, createActor } = { single, onShards }[form].current;
  const actor = await createActor();
  await createToken(vault, actor, { data: 'before' });
  await db.updateTable('tenants').set({ closed_at: later }).where('id', '=', actor.tenantId).execute();
  await expect(createToken(vault, actor, { data: 'after' })).rejects.toMatchObject({ code: 'unauthenticated' });
  const tables = ['tokens', 'audit_log'] as const;
  for (const table of tables) {
    expect(
      await db.selectFrom(table).select('tenant_id').where('tenant_id', '=', actor.tenantId).execute(),
    ).toHaveLength(1);
  }
});
