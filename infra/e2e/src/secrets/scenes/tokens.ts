import { isRefusal } from '../recording-client.ts';
import type { Stage } from '../stage.ts';

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

export interface CreatedTokens {
  card: string;
  bank: string;
  text: string;
  socialSecurity: string;
  object: string;
  /** Changed by patches, and used by nobody. */
  spare: string;
}

/** Tokens of several kinds are created, each in a way of its own, and each under an idempotency key, and replayed. */
export async function createTokens({ client, canaries, masking, revealing }: Stage): Promise<CreatedTokens> {
  const { card, cvc, account, routing, socialSecurity } = canaries;
  const idempotencyKey = canaries.text('idempotency key').replaceAll(/[^0-9a-z]/g, '');
  const create = async (body: object, { key } = masking, shows: string[] = []): Promise<string> => {
    const headers = { 'SVC-IDEMPOTENCY-KEY': idempotencyKey + Math.random() };
    const { json } = await client.send('POST', '/tokens', { key, body, headers, shows, is: 201 });
    await client.send('POST', '/tokens', { key, body, headers, shows, is: 201 });
    await client.send('POST', '/tokens', { key, body: { ...body, metadata: { a: 'b' } }, headers, is: 409 });
    return json.id;
  };
  const data = { number: card, expiration_month: 7, expiration_year: 2041, cvc };
  const search_indexes = ['{{ data.number }}', '{{ data.number | last4 }}'];
  const ofBank = { routing_number: routing, account_number: account };
  const deduplicated = { type: 'social_security_number', data: socialSecurity, deduplicate_token: true };
  const ids = {
    card: await create({ type: 'card', data, search_indexes, metadata: { customer: 'c-1' } }),
    bank: await create({ type: 'bank', data: ofBank, fingerprint_expression: '{{ data.account_number }}' }, masking, [
      'routing',
    ]),
    text: await create({ data: canaries.text('text') }, revealing, ['text']),
    socialSecurity: await create(deduplicated),
    object: await create({ data: { deep: [{ note: canaries.text('note') }] } }),
    spare: await create({ data: 1 }),
  };
  await client.send('POST', '/tokens', { key: masking.key, body: deduplicated, is: 200 });
  return ids;
}

/** Tokens are read, found, changed and used in every way that the API has. */
export async function useTokens({ client, canaries, ...callers }: Stage, tokens: CreatedTokens): Promise<void> {
  const [masking, revealing] = [
    { key: callers.masking.key, is: 200 },
    { key: callers.revealing.key, is: 200 },
  ];
  const plain = ['card', 'cvc', 'account', 'routing', 'text', 'socialSecurity', 'note'];
  for (const [name, id] of Object.entries(tokens)) {
    await client.send('GET', `/tokens/${id}`, { ...masking, shows: name === 'bank' ? ['routing'] : [] });
    await client.send('GET', `/tokens/${id}`, { ...revealing, shows: plain });
  }
  const all = Object.values(tokens).map((id) => `{{ ${id} }}`);
  const document = { all, text: `for {{ ${tokens.text} }}` };
  const revealed = await client.send('POST', '/detokenize', { ...revealing, body: document, shows: plain });
  expect(revealed.text).toContain(canaries.card);
  await client.send('POST', '/detokenize', { ...masking, body: document, shows: ['routing'] });
  await client.send('GET', '/tokens', { ...masking, shows: ['routing'] });
  await client.send('GET', '/tokens?type=card', { ...revealing, shows: plain });
  for (const query of [`data:${canaries.card}`, `data:"${canaries.card.slice(-4)}" AND type:card`]) {
    const found = await client.send('POST', '/tokens/search', { ...masking, body: { query } });
    expect(found.json.data).toHaveLength(1);
  }
  const body = { a: [canaries.text('tokenized')], b: { type: 'card_number', data: canaries.card } };
  await client.send('POST', '/tokenize', { ...masking, body });
  const patch = { data: { number: canaries.cardPatched, cvc: canaries.cvc }, metadata: { customer: 'c-2' } };
  const shows = ['cardPatched', 'cvc'];
  await client.send('PATCH', `/tokens/${tokens.card}`, { ...revealing, body: patch, headers: mergePatch, shows });
}

/** A faulty request must reveal nothing, neither in its error nor in a log. */
export async function refuseTokens({ client, canaries, ...stage }: Stage, tokens: CreatedTokens): Promise<void> {
  const { cardMistyped, socialSecurity, card, cvc } = canaries;
  const secret = canaries.text('refused');
  const refused = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) => {
    const { key } = path === '/detokenize' ? stage.revealing : stage.masking;
    return client.send(method, path, { key, body, headers, is: isRefusal });
  };
  const bodies: (string | object)[] = [
    { type: 'card', data: { number: cardMistyped, cvc } },
    { type: 'card_number', data: cardMistyped },
    { type: 'card', data: secret },
    { type: 'bank', data: { routing_number: socialSecurity, account_number: secret } },
    { type: 'social_security_number', data: `${socialSecurity}0` },
    { type: secret, data: 1 },
    { data: 1, id: `#${secret}` },
    { data: 1, expires_at: secret },
    { data: 1, containers: [secret] },
    { data: 1, metadata: { note: [secret] } },
    { data: secret, mask: '{{ data | pad_left: 3', fingerprint_expression: secret },
    { data: secret, mask: { a: `{{ data | to_number }}` }, search_indexes: [`{{ data | json: '${secret}' }}`] },
    { data: 1, metadata: { note: `${secret}\u0000` } },
    { data: secret, id: tokens.text },
    `{"data": ${card}, "number": "${secret}"`,
    `{"data": "${secret}" ${secret}}`,
    `${secret}`,
    { data: secret + 'x'.repeat(1_100_000) },
  ];
  for (const body of bodies) {
    await refused('POST', '/tokens', body);
    if (typeof body === 'string') await refused('POST', '/tokenize', body);
    const patch = typeof body === 'string' ? body : { ...body, id: 1 };
    // Some of them are no fault of a patch.
    await client.send('PATCH', `/tokens/${tokens.spare}`, { key: stage.masking.key, body: patch, headers: mergePatch });
  }
  await refused('POST', '/tokenize', { a: { type: 'card_number', data: cardMistyped }, b: secret });
  const queries = [`data:"${secret}`, secret, `created_at:${card}`, `data:${card} AND`, `data:${card}*`];
  for (const query of queries) await refused('POST', '/tokens/search', { query });
  for (const expression of [
    '{{',
    `{{ ${tokens.card} | pad_left: ${socialSecurity} }}`,
    `{{ ${tokens.text} | json: '$[${socialSecurity}' }}`,
    `{{ ${tokens.object} | json: '$.a' | no_such_filter }}`,
  ]) {
    await refused('POST', '/detokenize', { a: `${secret} ${expression}` });
  }
  await refused('GET', `/tokens?page=${encodeURIComponent(secret)}`, undefined);
  await refused('GET', `/tokens?type=${encodeURIComponent(secret)}`, undefined);
  const charset = { 'Content-Type': `text/plain; charset="${encodeURIComponent(secret)}"` };
  await refused('POST', '/tokens', { data: secret }, charset);
  await refused('POST', '/tokens', { data: 1 }, { 'SVC-IDEMPOTENCY-KEY': Buffer.from(secret).toString('latin1') });
}
