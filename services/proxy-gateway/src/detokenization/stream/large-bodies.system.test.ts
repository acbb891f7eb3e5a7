import { createHash, randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { eventually, useStack } from '@sluice/testing';
import { openClient } from '@sluice/testing/raw';
import { startHashingDestination } from '../../testing/hashing-destination.ts';
import { memoryInUse } from '../../testing/memory-in-use.ts';
import { statusesIn } from '../../testing/scene.ts';
import { startTestGateway } from '../../testing/test-gateway.ts';
import type { ProxyParts } from '../../testing/test-tenant.ts';
import { repeated, upload } from '../../testing/upload.ts';

const limitBytes = 256 * 1024;
const mebibyte = 2 ** 20;

const gateway = useStack(async (stack) => ({
  ...(await startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` })),
  hashing: await startHashingDestination(stack),
}));

async function setUp(parts: Omit<ProxyParts, 'destination'> = {}) {
  const { tenant, hashing, url } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: hashing.url, ...parts });
  const token = await tenant.token({ data: '4242424242424242' });
  const traceId = `trace-${proxy.id}`;
  const headers = {
    'SVC-API-KEY': application.key,
    'SVC-PROXY-KEY': proxy.key,
    'SVC-TRACE-ID': traceId,
    'Content-Type': 'application/json',
  };
  return { application, proxy, token, traceId, headers, url, tenant };
}

function sha256(chunks: Iterable<Buffer>): string {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

const lastSeen = () => gateway.current.hashing.seen.at(-1);

async function disclosuresOf(traceId: string) {
  const rows = await gateway.current.db.selectFrom('audit_log').selectAll().where('trace_id', '=', traceId).execute();
  return rows.filter((row) => row.operation === 'use');
}

test('64 MiB of JSON: every expression is replaced, nothing else changes, and the memory in use does not grow', async () => {
  const { headers, token, url, traceId } = await setUp();
  const line = (value: string) => `{"n" : 1e400,"card":"${value}", "é{":["€", 12345678901234567890 ]},\n`;
  const times = Math.ceil((64 * mebibyte) / Buffer.byteLength(line(`{{ ${token} }}`)));
  function* body(value: string) {
    yield Buffer.from('[');
    yield* repeated(line(value), times);
    yield Buffer.from('null]');
  }
  const size = [...'[null]'].length + times * Buffer.byteLength(line(`{{ ${token} }}`));
  const before = memoryInUse();
  const samples: number[] = [];
  function* sampled() {
    let count = 0;
    for (const chunk of body(`{{ ${token} }}`)) {
      if (++count % 64 === 0) samples.push(memoryInUse() - before);
      yield chunk;
    }
  }
  const answer = await upload(url, { ...headers, 'Content-Length': size }, sampled());
  expect(answer.status).toBe(200);
  expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256(body('4242424242424242')) });
  expect(lastSeen()?.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
  expect(samples.length).toBeGreaterThan(10);
  expect(Math.max(...samples)).toBeLessThan(32 * mebibyte);
  await eventually('the row', async () => (await disclosuresOf(traceId)).length > 0);
  expect(await disclosuresOf(traceId)).toHaveLength(1);
});

test.each([
  ['application/x-ndjson', '{"a":"{{ID}}"}\n', '{"a":"4242424242424242"}\n'],
  ['application/json', '["\\u007B\\u007bID\\u007d}", "{{ID | last4}}"] ', '["4242424242424242", "4242"] '],
  ['application/x-www-form-urlencoded', 'a=%7B%7BID%7D%7D&{{b}}=+&', 'a=4242424242424242&{{b}}=+&'],
  ['text/plain', 'é{{ID}}€\n', 'é4242424242424242€\n'],
  ['text/xml', '<a>{{ID}}</a>', '<a>4242424242424242</a>'],
  ['', '{"a":"{{ID}}"}\n', '{"a":"4242424242424242"}\n'],
  ['image/png', '{{ID}}', '{{ID}}'],
])('%s in chunks beyond the limit', async (contentType, piece, expected) => {
  const { headers, token, url } = await setUp();
  const { 'Content-Type': _, ...rest } = headers;
  const sent = [...repeated(piece.replaceAll('ID', token), 40_000)];
  const answer = await upload(url, contentType ? { ...rest, 'Content-Type': contentType } : rest, sent);
  expect(answer.status).toBe(200);
  const want = [...repeated(expected.replaceAll('ID', token), 40_000)];
  expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256(want) });
});

test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
  'a body of %s without an expression stays byte for byte, and nobody is asked for anything',
  async (contentType) => {
    const { headers, url, traceId } = await setUp({ requireAuth: false });
    const sent = [...repeated('{ "a" :"}}\\u007b", "b":1.50,"b":{ }}\n', 30_000)];
    const length = sent.reduce((sum, chunk) => sum + chunk.length, 0);
    const asked = { ...headers, 'SVC-API-KEY': 'nonsense', 'Content-Type': contentType, 'Content-Length': length };
    expect((await upload(url, asked, sent)).status).toBe(200);
    expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256(sent) });
    expect(await disclosuresOf(traceId)).toEqual([]);
  },
);

describe('compressed', () => {
  const noise = (i: number) => createHash('sha512').update(`${i}`).digest('hex');
  const text = (value: string) => `[${Array.from({ length: 20_000 }, (_, i) => `"${noise(i)}${value}"`).join()}]`;

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', (data: string) => brotliCompressSync(data, { params: { 1: 1 } })],
    ['zstd', zstdCompressSync],
  ] as const)('by %s: decoded on the way, sent on without coding', async (coding, compress) => {
    const { headers, token, url } = await setUp();
    const sent = compress(text(`{{${token}}}`));
    expect(sent.length).toBeGreaterThan(limitBytes);
    expect((await upload(url, { ...headers, 'Content-Encoding': coding }, [sent])).status).toBe(200);
    expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256([Buffer.from(text('4242424242424242'))]) });
    expect(lastSeen()?.headers['content-encoding']).toBeUndefined();
  });

  test('small, but too large when it is decoded', async () => {
    const { headers, token, url } = await setUp();
    const plain = (value: string) => [Buffer.from('['), ...repeated(`"${value}",`, 400_000), Buffer.from('1]')];
    const sent = gzipSync(Buffer.concat(plain(`{{${token}}}`)));
    expect(sent.length).toBeLessThan(limitBytes);
    expect(await upload(url, { ...headers, 'Content-Encoding': 'gzip' }, [sent])).toMatchObject({
      status: 200,
      detail: undefined,
    });
    expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256(plain('4242424242424242')) });
  });

  test.each([
    ['that breaks in the middle', (sent: Buffer) => sent.fill(0, 500_000)],
    ['that ends too early', (sent: Buffer) => sent.subarray(0, sent.length - 100)],
  ])('a body %s is 400, and the destination never sees an end', async (_, damage) => {
    const { headers, url } = await setUp();
    const sent = damage(gzipSync(text('')));
    const answer = await upload(url, { ...headers, 'Content-Encoding': 'gzip' }, [sent]);
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining('Content-Encoding') });
    await eventually('the end at the destination', () => lastSeen()?.isWhole === false);
  });

  test('an unknown coding is 415', async () => {
    const { headers, url } = await setUp();
    const answer = await upload(url, { ...headers, 'Content-Encoding': 'rot13' }, repeated('x', 2 * limitBytes));
    expect(answer.status).toBe(415);
  });
});

describe('what is wrong in the middle ends the call', () => {
  function* around(middle: string) {
    yield Buffer.from('[');
    yield* repeated('"abcdefg",', 200_000);
    yield Buffer.from(`${middle},`);
    yield* repeated('"abcdefg",', 200_000);
    yield Buffer.from('1]');
  }

  test.each([
    ['an unknown token', '"{{no-such-token}}"', 400, 'Unknown tokens: no-such-token'],
    ['an expression that is not closed', '"{{ abc"', 400, 'not closed'],
    ['an unknown filter', '"{{ abc | nofilter }}"', 400, 'nofilter'],
    ['an expression outside of strings', '{{ abc }}', 400, 'inside a string'],
    ['an expression in a string that is too long', `"${'x'.repeat(1.2 * mebibyte)}{{ abc }}"`, 413, '1048576'],
  ])('%s', async (_, middle, status, detail) => {
    const { headers, url, traceId } = await setUp();
    const answer = await upload(url, headers, around(middle));
    expect(answer).toMatchObject({ status, detail: expect.stringContaining(detail) });
    expect(answer.headers['svc-proxy-destination-status']).toBeUndefined();
    await eventually('the end at the destination', () => lastSeen()?.isWhole === false);
    expect(lastSeen()?.sizeBytes).toBeLessThan(3.5 * mebibyte);
    const line = await lineOf(traceId);
    expect(line).toMatchObject({ status });
  });

  test('a token that the key may not use is 403 and named; those before it are disclosed', async () => {
    const { headers, url, tenant, token, traceId } = await setUp();
    const hidden = await tenant.token({ type: 'token', data: 'secret', containers: ['/hidden/'] });
    const rule = { priority: 1, container: '/general/', transform: 'mask', permissions: ['token:use'] } as const;
    const { key } = await tenant.application({ permissions: [], rules: [rule] });
    const asked = { ...headers, 'SVC-API-KEY': key };
    function* body() {
      yield Buffer.from(`["{{${token}}}",`);
      yield* around(`"{{${hidden}}}"`);
      yield Buffer.from(']');
    }
    expect(await upload(url, asked, body())).toMatchObject({ status: 403, detail: expect.stringContaining(hidden) });
    await eventually('the end at the destination', () => lastSeen()?.isWhole === false);
    await eventually('the row', async () => (await disclosuresOf(traceId)).length === 1);
    expect((await disclosuresOf(traceId))[0]?.detail).toMatchObject({ token_ids: [token] });
  });

  test('an expression that is wrong, once the rights on the tokens beside it are checked, and nothing is disclosed', async () => {
    const { headers, url, token, traceId } = await setUp();
    const answer = await upload(url, headers, around(`"{{ ${token} | nope }}"`));
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining('no filter nope') });
    await eventually('the end at the destination', () => lastSeen()?.isWhole === false);
    expect(await disclosuresOf(traceId)).toEqual([]);
  });

  test('the same connection takes the next request', async () => {
    const { headers, url, token } = await setUp();
    expect((await upload(url, headers, around('"{{no-such-token}}"'))).status).toBe(400);
    expect((await upload(url, headers, [Buffer.from(`["{{${token}}}"]`)])).status).toBe(200);
    expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256([Buffer.from('["4242424242424242"]')]) });
  });
});

describe('without require_auth', () => {
  const body = (token: string) => [...repeated('"abcdefg",', 100_000), Buffer.from(`"{{${token}}}"`)];

  test('without a key the body passes as it is', async () => {
    const { headers, url, token } = await setUp({ requireAuth: false });
    const { 'SVC-API-KEY': _, ...rest } = headers;
    expect((await upload(url, rest, body(token))).status).toBe(200);
    expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256(body(token)) });
  });

  test('a key is looked at when the first expression comes', async () => {
    const { headers, url, token, tenant } = await setUp({ requireAuth: false });
    const { key } = await tenant.application({ permissions: ['token:read'] });
    expect((await upload(url, { ...headers, 'SVC-API-KEY': 'nonsense' }, body(token))).status).toBe(401);
    expect((await upload(url, { ...headers, 'SVC-API-KEY': key }, body(token))).status).toBe(403);
    expect((await upload(url, headers, body(token))).status).toBe(200);
    expect(lastSeen()).toMatchObject({
      isWhole: true,
      sha256: sha256(body(token).with(-1, Buffer.from('"4242424242424242"'))),
    });
  });
});

async function lineOf(traceId: string): Promise<Record<string, unknown>> {
  const find = () => gateway.current.logLines.find((line) => line.includes(traceId) && line.includes('"invocation"'));
  await eventually('the line in the log', () => find() !== undefined);
  return JSON.parse(find() ?? '');
}

test('each batch of tokens is a row, and the log counts all of them', async () => {
  const { headers, url, tenant, traceId, application } = await setUp();
  const tokens = await Promise.all(Array.from({ length: 4 }, (_, i) => tenant.token({ data: `value ${i}` })));
  function* body(values: readonly string[]) {
    yield Buffer.from(`["${values[0]}","${values[1]}",`);
    yield* repeated(`"${values[0]}",`, 40_000);
    yield Buffer.from(`"${values[2]}","${values[3]}","${values[1]}"]`);
  }
  expect((await upload(url, headers, body(tokens.map((token) => `{{${token}}}`)))).status).toBe(200);
  expect(lastSeen()?.sha256).toBe(sha256(body(['value 0', 'value 1', 'value 2', 'value 3'])));
  await eventually('the rows', async () => (await disclosuresOf(traceId)).length === 2);
  const rows = await disclosuresOf(traceId);
  const details = rows.map(({ detail }) => detail);
  expect(details).toHaveLength(2);
  const { host } = new URL(gateway.current.hashing.url);
  for (const token_ids of [tokens.slice(0, 2), tokens.slice(2)]) {
    expect(details).toContainEqual(expect.objectContaining({ token_ids, destination_host: host }));
  }
  expect(rows.every((row) => row.actor_id === application.id)).toBe(true);
  expect(await lineOf(traceId)).toMatchObject({ tokens: 4, application_id: application.id, status: 200 });
});

test.each<[what: string, status: number, happens: (ids: { application: string; proxy: string }) => Promise<string>]>([
  [
    'whose key is revoked',
    401,
    async ({ application: id }) => {
      await gateway.current.db.deleteFrom('applications').where('id', '=', id).execute();
      return `application:${id}`;
    },
  ],
  [
    'whose Proxy is deleted',
    404,
    async ({ proxy: id }) => {
      await gateway.current.db.deleteFrom('proxies').where('id', '=', id).execute();
      return `proxy:${id}`;
    },
  ],
  [
    'whose Proxy sends elsewhere now',
    503,
    async ({ proxy: id }) => {
      const changed = { destination_url: 'https://elsewhere.example/' };
      await gateway.current.db.updateTable('proxies').set(changed).where('id', '=', id).execute();
      return `proxy:${id}`;
    },
  ],
])('a body %s while it comes reveals nothing new', async (_, status, happens) => {
  const { headers, url, tenant, token, application, proxy } = await setUp();
  const other = await tenant.token({ data: 'other' });
  const { announce, hashing } = gateway.current;
  const seenBefore = hashing.seen.length;
  async function* body() {
    yield Buffer.from(`["{{${token}}}",`);
    yield* repeated('"abcdefg",', 100_000);
    await eventually('the start at the destination', () => (hashing.seen[seenBefore]?.sizeBytes ?? 0) > 0);
    await announce(tenant.id, [await happens({ application: application.id, proxy: proxy.id })]);
    yield Buffer.from(`"{{${other}}}"]`);
  }
  expect((await upload(url, headers, body())).status).toBe(status);
  await eventually('the end at the destination', () => lastSeen()?.isWhole === false);
});

test('when the destination has answered, the rest of the body is read by nobody, and the connection serves on', async () => {
  const { headers, url, token, traceId } = await setUp();
  const { hashing } = gateway.current;
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = (length: number) => `POST /proxy HTTP/1.1\r\n${lines.join('')}Content-Length: ${length}\r\n\r\n`;
  const [start, rest] = ['"abcdefg",'.repeat(100_000), `"{{${token}}}",`.repeat(50_000)];
  const client = openClient(url);
  const answers = () => statusesIn(client.text());
  hashing.answersAtOnce = true;
  try {
    client.write(head(start.length + rest.length) + start);
    await eventually('the answer', () => answers().length === 1);
    client.write(`${rest}${head(3)}[1]`);
    await eventually('the next answer', () => answers().length === 2);
  } finally {
    hashing.answersAtOnce = false;
    client.socket.destroy();
  }
  expect(answers()).toEqual([200, 200]);
  expect(await lineOf(traceId)).toMatchObject({ status: 200, complete: true });
  await new Promise((resolve) => setTimeout(resolve, 300)); // rows are written every 100 ms
  expect(await disclosuresOf(traceId)).toEqual([]);
});

test('a Proxy with a request transform takes no body beyond the limit', async () => {
  const { headers, url } = await setUp({ requestTransform: 'module.exports = async (req) => req.args' });
  expect((await upload(url, headers, repeated('"abcdefg",', 100_000))).status).toBe(413);
  expect((await upload(url, { ...headers, 'Content-Length': 1_000_000 }, repeated('"abcdefg",', 100_000))).status).toBe(
    413,
  );
});

describe('a slow destination, a caller that leaves', () => {
  afterEach(() => gateway.current.hashing.resume());

  function counted(chunks: Iterable<Buffer>) {
    const count = { bytes: 0 };
    function* counting() {
      for (const chunk of chunks) {
        count.bytes += chunk.length;
        yield chunk;
      }
    }
    return { count, chunks: counting() };
  }

  async function standstill(count: { bytes: number }): Promise<void> {
    for (let before = 0; before === 0 || before !== count.bytes; ) {
      before = count.bytes;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  test('a destination that does not read stops the caller, and memory does not grow; then everything arrives', async () => {
    const { headers, url, token } = await setUp();
    const { hashing } = gateway.current;
    const body = (value: string) => repeated(`"${value}","${'lorem ipsum '.repeat(80)}",`, 130_000);
    const { count, chunks } = counted(body(`{{${token}}}`));
    hashing.pause();
    const before = memoryInUse();
    const answer = upload(url, headers, chunks);
    await standstill(count);
    expect(count.bytes).toBeGreaterThan(mebibyte);
    expect(count.bytes).toBeLessThan(80 * mebibyte); // what the system's buffers take on four sockets
    expect(memoryInUse() - before).toBeLessThan(16 * mebibyte);
    hashing.resume();
    expect((await answer).status).toBe(200);
    expect(count.bytes).toBeGreaterThan(120 * mebibyte);
    expect(lastSeen()).toMatchObject({ isWhole: true, sha256: sha256(body('4242424242424242')) });
  });

  test('when the caller leaves, the destination sees a body without an end', async () => {
    const { headers, url, token, traceId } = await setUp();
    const { hashing } = gateway.current;
    const seenBefore = hashing.seen.length;
    async function* body() {
      yield Buffer.from(`["{{${token}}}",`);
      yield* repeated('"abcdefg",', 100_000);
      await eventually('the start at the destination', () => (hashing.seen[seenBefore]?.sizeBytes ?? 0) > 0);
      throw new Error('left');
    }
    await expect(upload(url, headers, body())).rejects.toThrow();
    await eventually('the end at the destination', () => lastSeen()?.isWhole === false);
    expect(await lineOf(traceId)).toMatchObject({ complete: false });
  });
});

test('a file of 1 GiB in multipart/form-data passes untouched between two fields, and the memory in use does not grow', async () => {
  const { headers, token, url } = await setUp();
  const chunk = randomBytes(mebibyte);
  const field = (value: string) => `--b\r\nContent-Disposition: form-data; name="card"\r\n\r\n${value}\r\n`;
  const file = '--b\r\nContent-Disposition: form-data; name="scan"; filename="a.bin"\r\n\r\n';
  function* body(value: string) {
    yield Buffer.from(field(value) + file);
    for (let i = 0; i < 1024; i++) yield chunk;
    yield Buffer.from(`\r\n${field(value)}--b--\r\n`);
  }
  const expected = sha256(body('4242424242424242'));
  const before = memoryInUse();
  let most = Number.NEGATIVE_INFINITY;
  let count = 0;
  function* sampled() {
    for (const piece of body(`{{ ${token} }}`)) {
      if (++count % 64 === 0) most = Math.max(most, memoryInUse() - before);
      yield piece;
    }
  }
  const type = { 'Content-Type': 'multipart/form-data; boundary=b' };
  expect((await upload(url, { ...headers, ...type }, sampled())).status).toBe(200);
  expect(lastSeen()).toMatchObject({ isWhole: true, sha256: expected });
  expect(count).toBe(1026);
  expect(most).toBeLessThan(32 * mebibyte);
});
