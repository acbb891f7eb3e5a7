import { eventually, useStack } from '@sluice/testing';
import { invokeAt } from '../../testing/invoke-at.ts';
import { shareTestGateway } from '../../testing/test-gateway.ts';

/** Each place in which a Proxy may have expressions replaced, with everything that can become of one. */
const gateway = useStack((stack) => shareTestGateway(stack));

interface Sent {
  path?: string;
  headers?: Record<string, string>;
  body?: string | Iterable<Buffer>;
}

interface PlaceCase {
  place: string;
  /** A request with the text in this place. */
  send(text: string): Sent;
  /** What the destination got there. */
  got(): string | undefined;
}

const seen = () => gateway.current.destination.seen.at(-1);

const cases: PlaceCase[] = [
  {
    place: 'body',
    send: (text) => ({ body: JSON.stringify(text), headers: { 'Content-Type': 'application/json' } }),
    got: () => JSON.parse(seen()?.body ?? 'null'),
  },
  { place: 'query', send: (text) => ({ path: `?q=${encodeURIComponent(text)}` }), got: () => seen()?.url.slice(4) },
  {
    place: 'path',
    send: (text) => ({ path: `/a/${encodeURIComponent(text)}/b` }),
    got: () => seen()?.url.slice(3, -2),
  },
  {
    place: 'header:X-Card',
    send: (text) => ({ headers: { 'x-card': text } }),
    got: () => String(seen()?.headers['x-card']),
  },
];

async function setUp(tokenPlaces: string[], parts: { requireAuth?: boolean } = {}) {
  const { tenant, destination } = gateway.current;
  const application = await tenant.application({ permissions: [], rules: [ruleFor('/general/')] });
  const proxy = await tenant.proxy({ destination: destination.url, tokenPlaces, ...parts });
  return { key: application.key, proxyKey: proxy.key };
}

function ruleFor(container: string) {
  return {
    description: 'R',
    priority: 1,
    container,
    transform: 'reveal' as const,
    permissions: ['token:use' as const],
  };
}

async function invoke(keys: { key?: string; proxyKey: string }, sent: Sent) {
  const before = gateway.current.destination.seen.length;
  const answer = await invokeAt(gateway.current, { ...keys, ...sent });
  return { ...answer, forwarded: gateway.current.destination.seen.length - before };
}

describe.each(cases)('$place', ({ place, send, got }) => {
  test('a token is replaced, and other places are not searched', async () => {
    const keys = await setUp([place]);
    const token = await gateway.current.tenant.token({ data: '4242424242424242' });
    expect(await invoke(keys, send(`n {{ ${token} | last4 }}/{{${token}}}`))).toMatchObject({
      status: 200,
      forwarded: 1,
    });
    expect(got()).toBe(
      { query: 'n%204242%2F4242424242424242', path: 'n%204242%2F4242424242424242' }[place] ?? 'n 4242/4242424242424242',
    );
    for (const other of cases.filter((each) => each.place !== place)) {
      expect(await invoke(keys, other.send(`{{ ${token} }}`))).toMatchObject({ status: 200 });
      expect(decodeURIComponent(other.got() ?? '')).toBe(`{{ ${token} }}`);
    }
  });

  test('a quoted text stands for itself', async () => {
    const keys = await setUp([place]);
    expect(await invoke(keys, send("{{ '{{' }}"))).toMatchObject({ status: 200 });
    expect(decodeURIComponent(got() ?? '')).toBe('{{');
  });

  test.each([
    ['unknown', '{{ 6f9b0b0e-0000-4000-8000-000000000000 }}', 400, 'Unknown tokens: 6f9b0b0e'],
    ['malformed', '{{ }}', 400, 'is not valid: it is empty'],
    ['unclosed', '{{ abc', 400, 'not closed'],
    [
      'of the configuration',
      '{{ config: KEY }}',
      400,
      'an expression with "config:" is allowed only in the request_headers',
    ],
  ])('one that is %s is refused', async (_, text, status, detail) => {
    const keys = await setUp([place]);
    expect(await invoke(keys, send(text))).toMatchObject({
      status,
      detail: expect.stringContaining(detail),
      forwarded: 0,
    });
  });

  test('one that the caller may not use is 403, also beside a malformed one', async () => {
    const keys = await setUp([place]);
    const token = await gateway.current.tenant.token({ data: 'a', containers: ['/pii/high/'] });
    const refused = { status: 403, detail: expect.stringContaining(token), forwarded: 0 };
    expect(await invoke(keys, send(`{{ ${token} }}`))).toMatchObject(refused);
    expect(await invoke(keys, send(`{{ ${token} }}{{ }}`))).toMatchObject(refused);
  });

  test('without a key it is 401 where an expression stands, and passes where none does', async () => {
    const { proxyKey } = await setUp([place], { requireAuth: false });
    const token = await gateway.current.tenant.token({ data: 'a' });
    const isBody = place === 'body';
    expect(await invoke({ proxyKey }, send(`{{ ${token} }}`))).toMatchObject(
      isBody ? { status: 200, forwarded: 1 } : { status: 401, forwarded: 0 },
    );
    expect(await invoke({ proxyKey }, send('plain'))).toMatchObject({ status: 200, forwarded: 1 });
  });

  test('the log lists the place once, with all its tokens', async () => {
    const { tenant, db } = gateway.current;
    const keys = await setUp([place]);
    const tokens = [await tenant.token({ data: 'a' }), await tenant.token({ data: 'b' })];
    await invoke(keys, send(tokens.map((token) => `{{ ${token} }}`).join('')));
    const detailsOf = async () => {
      const rows = await db.selectFrom('audit_log').select('detail').where('tenant_id', '=', tenant.id).execute();
      return rows.map(({ detail }) => detail).filter((detail) => JSON.stringify(detail).includes(tokens[0] ?? ''));
    };
    await eventually('the row', async () => (await detailsOf()).length > 0);
    const details = await detailsOf();
    expect(details).toMatchObject([{ token_ids: tokens, places: [place.toLowerCase()], method: expect.any(String) }]);
  });
});

describe('what a place cannot hold', () => {
  const [, , path, header] = cases as [PlaceCase, PlaceCase, PlaceCase, PlaceCase];
  const long = 'x'.repeat(17 * 1024);

  test.each([
    ...['..', '.', '../x', 'a/..', 'a\\b', 'a%2fb', 'a%252Fb', '%2e%2e', 'a/%2e%2e/b', '..;x', long].map(
      (data) => [path.place, path, data] as const,
    ),
    ...['a\nb', 'é', ' a', 'a ', '\t', long].map((data) => [header.place, header, data] as const),
  ])('%s (%#)', async (place, { send, got }, data) => {
    const keys = await setUp([place]);
    const token = await gateway.current.tenant.token({ data });
    expect(await invoke(keys, send(`{{ ${token} }}`))).toMatchObject({ status: 400, forwarded: 0 });
    expect(await invoke(keys, send(`a{{ ${token} | default: '' }}c`))).toMatchObject({ status: 200, forwarded: 1 });
    expect(got()).toMatch(/^a[^/\\\n]*c$/);
  });
});

describe('all places of a request count together', () => {
  test('against the 100 tokens, those of request_headers included', async () => {
    const { tenant, destination } = gateway.current;
    const application = await tenant.application();
    const ids = await Promise.all(Array.from({ length: 101 }, (_, i) => tenant.token({ data: `${i}` })));
    const expressions = (from: number, to: number) => ids.slice(from, to).map((id) => `{{${id}}}`);
    const proxy = await tenant.proxy({
      destination: destination.url,
      applicationId: application.id,
      tokenPlaces: ['query', 'body', 'header:x-a'],
      requestHeaders: { 'X-Own': expressions(0, 1).join('') },
    });
    const sent = (last: number) => ({
      path: `?q=${expressions(1, 20).join('')}`,
      headers: { 'x-a': expressions(20, 50).join(','), 'content-type': 'text/plain' },
      body: expressions(50, last).join(''),
    });
    const keys = { key: application.key, proxyKey: proxy.key };
    expect(await invoke(keys, sent(100))).toMatchObject({ status: 200, forwarded: 1 });
    expect(await invoke(keys, { ...sent(100), path: `?q=${expressions(0, 20).join('')}` })).toMatchObject({
      status: 200,
    });
    expect(await invoke(keys, sent(101))).toMatchObject({
      status: 400,
      detail: 'A request may name at most 100 tokens',
      forwarded: 0,
    });
  });

  test('against the 10,000 expressions', async () => {
    const { tenant } = gateway.current;
    const keys = await setUp(['query', 'body']);
    const token = await tenant.token({ id: `t${Date.now()}`, data: 'a' });
    const sent = (count: number) => ({
      path: `?q={{${token}}}`,
      headers: { 'content-type': 'text/plain' },
      body: `{{${token}}}`.repeat(count),
    });
    expect(await invoke(keys, sent(9_999))).toMatchObject({ status: 200, forwarded: 1 });
    expect(await invoke(keys, sent(10_000))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('at most 10000 expressions'),
      forwarded: 0,
    });
  });
});

describe('a body that streams', () => {
  const large = 6 * 1024 * 1024;
  function* bodyWith(text: string) {
    yield Buffer.from(`["${text}","`);
    yield Buffer.alloc(large, 'x');
    yield Buffer.from(`","${text}"]`);
  }

  test('has its expressions replaced with those of the head, each token logged once', async () => {
    const { tenant, db } = gateway.current;
    const keys = await setUp(['body', 'path', 'header:x-a']);
    const [inHead, inBoth, inBody] = [
      await tenant.token({ data: 'h' }),
      await tenant.token({ data: 'b' }),
      await tenant.token({ data: 'o' }),
    ];
    const answer = await invoke(keys, {
      path: `/{{${inHead}}}/{{${inBoth}}}`,
      headers: { 'content-type': 'application/json', 'x-a': `{{${inBoth}}}` },
      body: bodyWith(`{{${inBoth}}}{{${inBody}}}`),
    });
    expect(answer).toMatchObject({ status: 200, forwarded: 1 });
    expect(seen()?.url).toBe('/h/b');
    expect(seen()?.headers['x-a']).toBe('b');
    expect([seen()?.body.slice(0, 6), seen()?.body.slice(-6)]).toEqual(['["bo",', ',"bo"]']);
    const detailsOf = async () => {
      const rows = await db.selectFrom('audit_log').select('detail').where('tenant_id', '=', tenant.id).execute();
      const details = rows.map(({ detail }) => detail);
      return details.filter((detail) => [inHead, inBody].some((id) => JSON.stringify(detail).includes(id)));
    };
    await eventually('the rows', async () => (await detailsOf()).length >= 2);
    const details = await detailsOf();
    expect(details).toHaveLength(2);
    expect(details).toContainEqual(
      expect.objectContaining({ token_ids: [inHead, inBoth], places: ['path', 'header:x-a'] }),
    );
    expect(details).toContainEqual(expect.objectContaining({ token_ids: [inBody], places: ['body'] }));
  });

  test('counts a token of request_headers once against the 100', async () => {
    const { tenant, destination } = gateway.current;
    const application = await tenant.application();
    const ids = await Promise.all(Array.from({ length: 101 }, (_, i) => tenant.token({ data: `${i}` })));
    const expressions = (from: number, to: number) => ids.slice(from, to).map((id) => `{{${id}}}`);
    const proxy = await tenant.proxy({
      destination: destination.url,
      applicationId: application.id,
      tokenPlaces: ['query', 'body'],
      requestHeaders: { 'X-Own': expressions(0, 2).join('') },
    });
    const sent = (last: number) => ({
      path: `?q=${expressions(1, 3).join('')}`,
      headers: { 'content-type': 'application/json' },
      body: bodyWith(expressions(0, last).join('')),
    });
    const keys = { key: application.key, proxyKey: proxy.key };
    expect(await invoke(keys, sent(100))).toMatchObject({ status: 200, forwarded: 1 });
    expect(await invoke(keys, sent(101))).toMatchObject({
      status: 400,
      detail: 'A request may name at most 100 tokens',
    });
  });

  test('passes byte for byte where nothing is searched, braces and all', async () => {
    const keys = await setUp([]);
    const text = '{{ not a token }}';
    expect(
      await invoke(keys, {
        path: `/%7B%7B{{x}}/%2e%2f?q={{x}}+%20&&`,
        headers: { 'content-type': 'application/json', 'x-a': '{{ x }}' },
        body: bodyWith(text),
      }),
    ).toMatchObject({ status: 200, forwarded: 1 });
    expect(seen()?.url).toBe('/%7B%7B{{x}}/%2e%2f?q={{x}}+%20&&');
    expect(seen()?.headers['x-a']).toBe('{{ x }}');
    expect(seen()?.bytes.equals(Buffer.concat([...bodyWith(text)]))).toBe(true);
  });
});

test.each(['/a/../b', '/%2e%2e/{{x}}', '/{{x}}%2f..%2fa'])('%s is refused before its body is read', async (path) => {
  const keys = await setUp(['path']);
  const answer = invoke(keys, { path, headers: { 'content-length': '5' }, body: 'abcde' });
  expect(await answer).toMatchObject({
    status: 400,
    detail: expect.stringContaining('must stay below'),
    forwarded: 0,
  });
});
