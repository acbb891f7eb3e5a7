import type { Stage } from './stage.ts';

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
  const create = async (body: object, { key, shows = [] }: { key: string; shows?: string[] }) => {
    const headers = {
      'SVC-IDEMPOTENCY-KEY': canaries.text('idempotency key').replaceAll(/[^0-9a-z]/g, '') + Math.random(),
    };
    const first = await client.send('POST', '/tokens', { key, body, headers, shows });
    const again = await client.send('POST', '/tokens', { key, body, headers, shows });
    expect([first.status, again.status]).toEqual([201, 201]);
    const other = await client.send('POST', '/tokens', { key, body: { ...body, metadata: { a: 'b' } }, headers });
    expect(other.status).toBe(409);
    return first.json.id as string;
  };
  const searchable = { search_indexes: ['{{ data.number }}', '{{ data.number | last4 }}'] };
  const data = { number: card, expiration_month: 7, expiration_year: 2041, cvc };
  const ids = {
    card: await create({ type: 'card', data, ...searchable, metadata: { customer: 'c-1' } }, masking),
    bank: await create(
      {
        type: 'bank',
        data: { routing_number: routing, account_number: account },
        fingerprint_expression: '{{ data.account_number }}',
      },
      { ...masking, shows: ['routing'] },
    ),
    text: await create({ data: canaries.text('text') }, { ...revealing, shows: ['text'] }),
    socialSecurity: await create(
      { type: 'social_security_number', data: socialSecurity, deduplicate_token: true },
      masking,
    ),
    object: await create({ data: { deep: [{ note: canaries.text('note') }] } }, masking),
    spare: await create({ data: 1 }, masking),
  };
  const equal = { type: 'social_security_number', data: socialSecurity, deduplicate_token: true };
  expect((await client.send('POST', '/tokens', { ...masking, body: equal })).status).toBe(200);
  return ids;
}

/** Tokens are read, found, changed and used in every way that the API has. */
export async function useTokens(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, masking, revealing } = stage;
  const plain = ['card', 'cvc', 'account', 'routing', 'text', 'socialSecurity', 'note'];
  for (const [name, id] of Object.entries(tokens)) {
    const shows = name === 'bank' ? ['routing'] : [];
    expect((await client.send('GET', `/tokens/${id}`, { ...masking, shows })).status).toBe(200);
    expect((await client.send('GET', `/tokens/${id}`, { ...revealing, shows: plain })).status).toBe(200);
  }
  const all = Object.values(tokens);
  const document = { all: all.map((id) => `{{ ${id} }}`), text: `for {{ ${tokens.text} }}` };
  const revealed = await client.send('POST', '/detokenize', { ...revealing, body: document, shows: plain });
  expect(revealed.text).toContain(canaries.card);
  await client.send('POST', '/detokenize', { ...masking, body: document, shows: ['routing'] });
  await client.send('GET', '/tokens', { ...masking, shows: ['routing'] });
  await client.send('GET', '/tokens?type=card', { ...revealing, shows: plain });
  for (const query of [`data:${canaries.card}`, `data:"${canaries.card.slice(-4)}" AND type:card`]) {
    const found = await client.send('POST', '/tokens/search', { ...masking, body: { query } });
    expect([found.status, found.json.data.length]).toEqual([200, 1]);
  }
  const tokenized = await client.send('POST', '/tokenize', {
    ...masking,
    body: { a: [canaries.text('tokenized')], b: { type: 'card_number', data: canaries.card } },
  });
  expect(tokenized.status).toBe(200);
  const patch = { data: { number: canaries.cardPatched, cvc: canaries.cvc }, metadata: { customer: 'c-2' } };
  const patched = await client.send('PATCH', `/tokens/${tokens.card}`, {
    ...masking,
    body: patch,
    headers: mergePatch,
  });
  expect(patched.status).toBe(200);
}

/** What is wrong with a request must not make it tell, nor be told of in a log. */
export async function refuseTokens(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, masking, revealing } = stage;
  const refused = async (method: string, path: string, body: unknown, headers?: Record<string, string>) => {
    const { key } = path === '/detokenize' ? revealing : masking;
    const { status } = await client.send(method, path, { key, body, ...(headers && { headers }) });
    const request = `${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}: ${status}`;
    expect([request, status >= 400 && status < 500]).toEqual([request, true]);
  };
  const { cardMistyped, socialSecurity } = canaries;
  const secret = canaries.text('refused');
  const bodies: (string | object)[] = [
    { type: 'card', data: { number: cardMistyped, cvc: canaries.cvc } },
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
    `{"data": ${canaries.card}, "number": "${secret}"`,
    `{"data": "${secret}" ${secret}}`,
    `${secret}`,
    { data: secret + 'x'.repeat(1_100_000) },
  ];
  for (const body of bodies) {
    await refused('POST', '/tokens', body);
    if (typeof body === 'string') await refused('POST', '/tokenize', body);
    await refused(
      'PATCH',
      `/tokens/${tokens.spare}`,
      typeof body === 'string' ? body : { ...body, id: 1 },
      mergePatch,
    ).catch(
      () => undefined, // some of them are no fault of a patch
    );
  }
  await refused('POST', '/tokenize', { a: { type: 'card_number', data: cardMistyped }, b: secret });
  for (const query of [
    `data:"${secret}`,
    `${secret}`,
    `created_at:${canaries.card}`,
    `data:${canaries.card} AND`,
    `data:${canaries.card}*`,
  ]) {
    await refused('POST', '/tokens/search', { query });
  }
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
  await refused(
    'POST',
    '/tokens',
    { data: secret },
    { 'Content-Type': `text/plain; charset="${encodeURIComponent(secret)}"` },
  );
  await refused('POST', '/tokens', { data: 1 }, { 'SVC-IDEMPOTENCY-KEY': Buffer.from(secret).toString('latin1') });
}
