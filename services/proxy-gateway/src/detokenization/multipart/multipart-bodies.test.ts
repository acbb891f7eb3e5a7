import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { call, eventually, slow, useStack } from '@sluice/testing';
import { startHashingDestination } from '../../testing/hashing-destination.ts';
import { memoryInUse } from '../../testing/memory-in-use.ts';
import { startTestGateway } from '../../testing/test-gateway.ts';
import type { ProxyParts } from '../../testing/test-tenant.ts';
import { upload } from '../../testing/upload.ts';

const mebibyte = 2 ** 20;
const limitBytes = 256 * 1024;
const B = 'Bo-_un';
const contentType = `multipart/form-data; boundary=${B}`;

const gateway = useStack(async (stack) => ({
  ...(await startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` })),
  hashing: await startHashingDestination(stack),
}));

async function setUp(parts: Omit<ProxyParts, 'destination'> = {}, destination = gateway.current.destination.url) {
  const { tenant, url } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination, ...parts });
  const token = await tenant.token({ data: '4242424242424242' });
  const traceId = randomUUID();
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'SVC-TRACE-ID': traceId, 'Content-Type': contentType };
  return { application, proxy, token, traceId, headers, url, tenant };
}

const field = (content: string, header = 'Content-Disposition: form-data; name="a"') =>
  `--${B}\r\n${header}\r\n\r\n${content}\r\n`;
const end = `--${B}--\r\n`;
const file = 'Content-Disposition: form-data; name="f"; filename="f"';
const lastSeen = () => gateway.current.destination.seen.at(-1);
const lastHashed = () => gateway.current.hashing.seen.at(-1);

describe('a form with files, as clients send it', () => {
  test('by fetch: the field has the value, the file stays', async () => {
    const { application, proxy, token, url } = await setUp();
    const form = new FormData();
    form.append('card', `{{${token}}}`);
    form.append('file', new Blob([`{{${token}}}`]), 'a.txt');
    const headers = { 'SVC-API-KEY': application.key, 'SVC-PROXY-KEY': proxy.key };
    expect((await fetch(`${url}/proxy`, { method: 'POST', headers, body: form })).status).toBe(200);
    const { headers: received, body } = lastSeen() ?? { headers: {}, body: '' };
    const type = String(received['content-type']);
    const seen = await new Response(body, { headers: { 'Content-Type': type } }).formData();
    expect(seen.get('card')).toBe('4242424242424242');
    expect(await (seen.get('file') as File).text()).toBe(`{{${token}}}`);
  });

  test('by curl: the field and the JSON part have the value', async () => {
    const { application, proxy, token, url } = await setUp();
    const parts = [`card={{${token}}}`, `meta={"n":"{{${token}}}"};type=application/json`, 'file=@-;filename=x'];
    const options = ['-H', `SVC-API-KEY: ${application.key}`, '-H', `SVC-PROXY-KEY: ${proxy.key}`];
    const curl = promisify(execFile)('curl', [
      ...['-sS', '--fail-with-body', ...options],
      ...[...parts.flatMap((part) => ['-F', part]), `${url}/proxy`],
    ]);
    curl.child.stdin?.end('in a file');
    await curl;
    expect(lastSeen()?.body).toContain('name="card"\r\n\r\n4242424242424242\r\n--');
    expect(lastSeen()?.body).toContain('application/json\r\n\r\n{"n":"4242424242424242"}\r\n--');
    expect(lastSeen()?.body).toContain('\r\n\r\nin a file\r\n--');
  });

  test('compressed: it goes on without coding', async () => {
    const { application, headers, token, url } = await setUp();
    const coded = { ...headers, 'SVC-API-KEY': application.key, 'Content-Encoding': 'gzip' };
    expect((await upload(url, coded, [gzipSync(field(`{{${token}}}`) + end)])).status).toBe(200);
    expect(lastSeen()?.body).toBe(field('4242424242424242') + end);
    expect(lastSeen()?.headers['content-encoding']).toBeUndefined();
  });
});

describe('failures', () => {
  const send = (key: string | undefined, headers: Record<string, string>, body: string) =>
    call(gateway.current.url, 'POST', '/proxy', { ...(key && { key }), headers, body });

  test('400: a value that would end its part; nothing is sent, and the disclosure is noted', async () => {
    const { application, headers, tenant, traceId } = await setUp();
    const hostile = await tenant.token({ data: `x\r\n--${B}\r\n${file}\r\n\r\nmine` });
    const seen = gateway.current.destination.seen.length;
    const answer = await send(application.key, headers, field(`{{${hostile}}}`) + end);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toMatch(/the part \\"a\\" contains the boundary/);
    expect(JSON.stringify(answer.body)).not.toContain('mine');
    expect(gateway.current.destination.seen).toHaveLength(seen);
    const rows = () => gateway.current.db.selectFrom('audit_log').select('operation').where('trace_id', '=', traceId);
    await eventually('the row', async () => (await rows().execute()).length === 1);
  });

  test('400: no boundary, an unknown token; 403: a token that may not be used; 401: no key', async () => {
    const { application, headers, token, tenant } = await setUp();
    const body = field(`{{${token}}}`) + end;
    const untyped = { ...headers, 'Content-Type': 'multipart/form-data' };
    expect((await send(application.key, untyped, body)).status).toBe(400);
    expect((await send(application.key, headers, field('{{unknown}}') + end)).status).toBe(400);
    const rule = {
      description: '',
      priority: 1,
      container: '/other/',
      transform: 'reveal',
      permissions: ['token:use'],
    };
    const other = await tenant.application({ permissions: [], rules: [rule as never] });
    expect((await send(other.key, headers, body)).status).toBe(403);
    expect((await send(undefined, headers, body)).status).toBe(401);
  });

  test('without a key, where none is needed, it passes as it is', async () => {
    const { headers, token } = await setUp({ requireAuth: false });
    const body = field(`{{${token}}}`) + end;
    expect((await send(undefined, headers, body)).status).toBe(200);
    expect(lastSeen()?.body).toBe(body);
  });
});

test('a request transform does not run, at any size', async () => {
  const requestTransform = 'module.exports = async () => { throw new Error("it ran") }';
  const { application, headers, token, url } = await setUp({ requestTransform });
  const keyed = { ...headers, 'SVC-API-KEY': application.key };
  expect((await upload(url, keyed, [Buffer.from(field(`{{${token}}}`) + end)])).status).toBe(200);
  expect(lastSeen()?.body).toBe(field('4242424242424242') + end);
  const large = field('x'.repeat(2 * limitBytes), file);
  expect((await upload(url, keyed, [Buffer.from(large + field(`{{${token}}}`) + end)])).status).toBe(200);
  expect(lastSeen()?.body).toBe(large + field('4242424242424242') + end);
});

describe('beyond the limit', () => {
  const chunk = randomBytes(mebibyte);

  function* body(value: string, mebibytes: number) {
    yield Buffer.from(field(value) + field('x', file).slice(0, -3));
    for (let i = 0; i < mebibytes; i++) yield chunk;
    yield Buffer.from(`\r\n${field(value)}${end}`);
  }

  slow('6.1 s')('a file of 64 MiB passes untouched between fields, and the memory in use does not grow', async () => {
    const { application, headers, token, url } = await setUp({}, gateway.current.hashing.url);
    const expected = createHash('sha256');
    for (const piece of body('4242424242424242', 64)) expected.update(piece);
    const before = memoryInUse();
    let most = Number.NEGATIVE_INFINITY;
    let count = 0;
    function* sampled() {
      for (const piece of body(`{{${token}}}`, 64)) {
        if (++count % 16 === 0) most = Math.max(most, memoryInUse() - before);
        yield piece;
      }
    }
    const answer = await upload(url, { ...headers, 'SVC-API-KEY': application.key }, sampled());
    expect(answer.status).toBe(200);
    expect(lastHashed()).toMatchObject({ isWhole: true, sha256: expected.digest('hex') });
    expect(count).toBe(66);
    expect(most).toBeLessThan(32 * mebibyte);
  });

  test.each([
    ['an unknown token', '{{unknown}}', 400],
    ['an expression without end', '{{', 400],
  ])('%s at the end breaks the call off', async (_, value, status) => {
    const { application, headers, token, url } = await setUp({}, gateway.current.hashing.url);
    function* late() {
      yield* [...body(`{{${token}}}`, 4)].slice(0, -1);
      yield Buffer.from(`\r\n${field(value)}${end}`);
    }
    const answer = await upload(url, { ...headers, 'SVC-API-KEY': application.key }, late());
    expect(answer.status).toBe(status);
    await eventually('the end at the destination', () => lastHashed()?.isWhole === false);
  });

  test('a body that ends in a field breaks the call off', async () => {
    const { application, headers, token, url } = await setUp({}, gateway.current.hashing.url);
    const cut = [...body(`{{${token}}}`, 4)].slice(0, -1);
    const rest = Buffer.from(`\r\n${field(`{{${token}}}`)}`).subarray(0, -2);
    const answer = await upload(url, { ...headers, 'SVC-API-KEY': application.key }, [...cut, rest]);
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining('its last part has no end') });
    await eventually('the end at the destination', () => lastHashed()?.isWhole === false);
  });
});
