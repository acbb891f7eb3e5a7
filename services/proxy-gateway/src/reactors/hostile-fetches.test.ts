import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { listen } from '@sluice/service-runtime';
import { eventually, slow, useStack } from '@sluice/testing';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

/** Programs that misuse `fetch`, and destinations that misuse who calls them. A good run of another Tenant follows each. */
const settings = { DESTINATION_HEAD_TIMEOUT_MS: '300000', BODY_HELD_BYTES: '100000000' };
const gateway = useStack((stack) => startTestGateway(stack, settings));
/** Another gateway that soon ends runs, for programs that wait for what never comes. */
const impatient = useStack(async () => (await gateway.current.startAnother({ REACTOR_WALL_MS: '1000' })).url);
const hostile = useStack(startHostileDestination);

interface Seen {
  method: string;
  url: string;
  rawHeaders: string[];
}

const megabyte = Buffer.alloc(2 ** 20, 'x');
/** Made before any run, because making it takes as long as some runs may. */
const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20));

const held: ServerResponse[] = [];

function endless(response: ServerResponse): void {
  while (response.write(megabyte));
  response.once('drain', () => endless(response));
}

const answers: Record<string, RequestListener> = {
  '/endless': (_, response) => endless(response),
  '/dripping': (_, response) => {
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  },
  '/silent': () => {},
  '/held': (_, response) => void held.push(response),
  '/silent-body': (_, response) => response.writeHead(200).flushHeaders(),
  '/bomb': (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb),
  '/nested-bomb': (_, response) =>
    response.writeHead(200, { 'Content-Encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(megabyte))),
  '/no-gzip': (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('plain'),
  '/many-headers': (_, response) =>
    response
      .writeHead(200, Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`X-${i}`, 'y'.repeat(50)])))
      .end(),
  '/to-metadata': (_, response) =>
    response.writeHead(302, { Location: 'http://169.254.169.254/latest/meta-data/' }).end('moved'),
  '/to-itself': (_, response) => response.writeHead(307, { Location: '/to-itself' }).end('moved'),
  '/early': (_, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.end('late');
  },
  '/cut': (_, response) => {
    response.writeHead(200, { 'Content-Length': 100 });
    response.write('part', () => response.destroy());
  },
};

async function startHostileDestination(stack: AsyncDisposableStack) {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  let underWay = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '', rawHeaders } = request;
    seen.push({ method, url, rawHeaders });
    underWay += 1;
    response.on('close', () => {
      underWay -= 1;
    });
    const answer = answers[url.split('?')[0] ?? ''];
    if (answer) answer(request, response);
    else response.end('ok');
  });
  server.on('connection', (socket) => sockets.add(socket));
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => server.closeAllConnections());
  return { url: `http://127.0.0.1:${port}`, seen, underWay: () => underWay };
}

const tried = (call: string) =>
  `await (${call}).then((one) => one, (error) => [error.name, error.cause?.message ?? error.message])`;

async function runHostile(statements: string, url = gateway.current.url) {
  const { tenant } = gateway.current;
  hostile.current.seen.length = 0;
  const { key } = await tenant.application();
  const code = `module.exports = async ({ args: base }) => { ${statements} }`;
  const { id } = await tenant.reactor({ code });
  const { status, body } = await reactAt(url, { id, key, body: { args: hostile.current.url } });
  await expectGoodRun();
  return { status, raw: body.raw, detail: body.detail };
}

/** What was left under way is aborted, and another Tenant is served. */
async function expectGoodRun(): Promise<void> {
  const { url, stranger, destination } = gateway.current;
  await eventually('nothing is left at the destination', () => hostile.current.underWay() === 0);
  const { key } = await stranger.application();
  const { id } = await stranger.reactor({
    code: 'module.exports = async ({ args }) => ({ raw: await (await fetch(args)).json() })',
  });
  expect((await reactAt(url, { id, key, body: { args: destination.url } })).body).toEqual({ raw: { ok: true } });
}

describe('floods', () => {
  slow('1.1 s')('of calls one after another: twenty are sent', async () => {
    const { raw } = await runHostile(
      `let refused = 0; for (let i = 0; i < 1000; i++) await fetch(base).catch(() => { refused += 1 }); return { raw: refused }`,
    );
    expect([raw, hostile.current.seen.length]).toEqual([980, 20]);
  });

  slow('0.4 s')('of calls side by side: twenty are sent', async () => {
    const { raw } =
      await runHostile(`const all = await Promise.allSettled(Array.from({ length: 1000 }, () => fetch(base)));
      return { raw: all.filter(({ status }) => status === 'fulfilled').length }`);
    expect([raw, hostile.current.seen.length]).toEqual([20, 20]);
  });

  slow('2.9 s')('without end', async () => {
    const { status } = await runHostile('for (;;) fetch(base).catch(() => {})');
    expect(status).toBe(500);
    expect(hostile.current.seen.length).toBeLessThanOrEqual(20);
  });

  test('of large bodies', async () => {
    const { raw } = await runHostile(
      `const body = 'x'.repeat(5 * 2 ** 20 + 1); return { raw: ${tried("fetch(base, { method: 'POST', body })")} }`,
    );
    expect([raw, hostile.current.seen.length]).toEqual([['TypeError', expect.stringContaining('5242880 bytes')], 0]);
  });

  slow('1.3 s')(
    'of large bodies to a destination that reads nothing: two are open, and their memory is reserved',
    async () => {
      const { url, tenant, metrics } = gateway.current;
      const { key } = await tenant.application();
      const code = `module.exports = async ({ args: base }) => {
      const body = 'x'.repeat(5 * 2 ** 20);
      const all = Array.from({ length: 20 }, () => fetch(base + '/held', { method: 'POST', body }));
      return { raw: (await Promise.allSettled(all)).map(({ reason }) => reason?.cause?.message) } }`;
      const { id } = await tenant.reactor({ code });
      const run = reactAt(url, { id, key, body: { args: hostile.current.url } });
      const reserved = async () =>
        Number(
          /^sluice_body_held_bytes (\d+)$/m.exec(await metrics.getSingleMetricAsString('sluice_body_held_bytes'))?.[1],
        );
      await eventually('both are open', () => held.length === 2);
      expect(await reserved()).toBeGreaterThanOrEqual(2 * 5 * 2 ** 20);
      for (const response of held.splice(0)) response.end();
      const refusals: unknown[] = (await run).body.raw as unknown[];
      expect(refusals.filter((one) => one === null)).toHaveLength(2);
      expect(refusals.filter((one) => /10485760 bytes/.test(String(one)))).toHaveLength(18);
      await eventually('the memory is released', async () => (await reserved()) === 0);
      await expectGoodRun();
    },
  );

  test('of calls that nobody awaits end with their run', async () => {
    const { raw } = await runHostile(
      `for (let i = 0; i < 20; i++) fetch(base + '/silent').catch(() => {}); await fetch(base).catch(() => {}); return { raw: 1 }`,
    );
    expect(raw).toBe(1);
  });
});

describe('bodies', () => {
  test('that never end are given up at 5 MiB', async () => {
    const { raw } = await runHostile(
      `const r = await fetch(base + '/endless'); return { raw: [r.status, ${tried('r.text()')}] }`,
    );
    expect(raw).toEqual([200, ['TypeError', expect.stringContaining('5242880 bytes')]]);
  });

  slow('0.5 s')('that never end and that nobody reads, side by side', async () => {
    const { raw } = await runHostile(
      `const all = await Promise.all(Array.from({ length: 20 }, () => fetch(base + '/endless'))); return { raw: all.map((r) => r.status).length }`,
    );
    expect(raw).toBe(20);
  });

  test.each(['/dripping', '/silent-body'])('that do not end in time end with the run: %s', async (path) => {
    const { status, detail } = await runHostile(
      `const r = await fetch(base + '${path}'); await r.text()`,
      impatient.current,
    );
    expect([status, detail]).toEqual([500, 'The reactor was stopped: it took longer than 1000 ms']);
  });

  test('that blow up when they are decoded', async () => {
    const { raw } = await runHostile(
      `return { raw: [${tried("fetch(base + '/bomb').then((r) => r.text())")}, ${tried("fetch(base + '/nested-bomb').then((r) => r.text())")}] }`,
    );
    expect(raw).toEqual([
      ['TypeError', expect.stringContaining('5242880 bytes')],
      ['TypeError', expect.stringContaining('one content coding')],
    ]);
  });

  test('that are not what they say, or break off', async () => {
    const { raw } = await runHostile(
      `return { raw: [${tried("fetch(base + '/no-gzip').then((r) => r.text())")}, ${tried("fetch(base + '/cut').then((r) => r.text())")}] }`,
    );
    expect(raw).toEqual([
      ['TypeError', expect.stringContaining('not valid gzip')],
      ['TypeError', expect.stringContaining('interrupted')],
    ]);
  });

  test('of other runs cannot be read', async () => {
    const { url, tenant } = gateway.current;
    const { key } = await tenant.application();
    const { id } = await tenant.reactor({
      code: `module.exports = async ({ args: base }) => {
        if (!globalThis.kept) { globalThis.kept = await fetch(base); return { raw: 'kept' } }
        await fetch(base); return { raw: ${tried('kept.text()')} } }`,
    });
    const run = () => reactAt(url, { id, key, body: { args: hostile.current.url } });
    const first = (await run()).body.raw;
    let later = first;
    for (let i = 0; i < 20 && later === 'kept'; i += 1) later = (await run()).body.raw; // each thread keeps one
    expect([first, later]).toEqual([
      'kept',
      ['TypeError', 'The response to this call of fetch was already read or aborted, or belongs to another run'],
    ]);
    await expectGoodRun();
  });
});

describe('heads', () => {
  test('with too many headers reject', async () => {
    const { raw } = await runHostile(`return { raw: ${tried("fetch(base + '/many-headers')")} }`);
    expect(raw).toEqual(['TypeError', expect.stringContaining('headers')]);
  });

  test('after an informational one', async () => {
    const { raw } = await runHostile(
      `const r = await fetch(base + '/early'); return { raw: [r.status, await r.text()] }`,
    );
    expect(raw).toEqual([200, 'late']);
  });

  test('that never come end with the run', async () => {
    expect((await runHostile(`await fetch(base + '/silent')`, impatient.current)).status).toBe(500);
  });

  test('that redirect are answers, and nothing is followed', async () => {
    const { raw } = await runHostile(
      `const all = []; for (const path of ['/to-metadata', '/to-itself']) { const r = await fetch(base + path, { redirect: 'follow' }); all.push([r.status, r.redirected, r.headers.get('location')]) } return { raw: all }`,
    );
    expect(raw).toEqual([
      [302, false, 'http://169.254.169.254/latest/meta-data/'],
      [307, false, '/to-itself'],
    ]);
    expect(hostile.current.seen.map(({ url }) => url)).toEqual(['/to-metadata', '/to-itself']);
  });
});

describe('addresses', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://168.63.129.16/',
    'http://169.254.169.254.:80/',
    'http://metadata.google.internal/',
    'http://10.0.0.1/',
    'https://[::1]:1/',
  ])('%s is refused like one that is closed', async (address) => {
    const { raw } = await runHostile(`return { raw: ${tried(`fetch('${address}')`)} }`);
    expect(raw).toEqual(['TypeError', expect.stringMatching(/^The (destination|name of the destination) /)]);
  });

  test.each([
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://a.example/',
    'unix:/var/run/docker.sock',
    'blob:http://a/b',
    'javascript:1',
  ])('%s is no destination', async (address) => {
    const { raw } = await runHostile(`return { raw: ${tried(`fetch('${address}')`)} }`);
    expect(raw).toEqual(['TypeError', 'fetch takes only http and https URLs without a user name']);
  });
});

describe('headers', () => {
  const injections = [
    "{ headers: { 'x-a': 'b\\r\\nX-Injected: 1' } }",
    "{ headers: { 'x-a': 'b\\nX-Injected: 1' } }",
    "{ headers: { 'x-a': 'b\\0c' } }",
    "{ headers: { 'x-a\\r\\nX-Injected': '1' } }",
    "{ headers: { 'x-a: b\\r\\nX-Injected': '1' } }",
    "{ headers: { 'x a': '1' } }",
    "{ method: 'GET / HTTP/1.1\\r\\nX-Injected: 1\\r\\n\\r\\nGET' }",
    "{ method: 'CONNECT' }",
    "{ method: 'TRACE' }",
  ];

  test.each(injections)('%s is refused', async (init) => {
    const { raw } = await runHostile(`return { raw: ${tried(`fetch(base, ${init})`)} }`);
    expect([raw, hostile.current.seen]).toEqual([['TypeError', expect.any(String)], []]);
  });

  /** By code that changes what the guest's own files use, so that they check nothing. */
  test.each(['x-a', 'x-a\\r\\nX-Injected'])('nor do they get past files that were tampered with: %s', async (name) => {
    const tampering = `RegExp.prototype.test = () => true; RegExp.prototype.exec = () => null; String.prototype.replace = function () { return this + '' };`;
    await runHostile(
      `${tampering} return { raw: ${tried(`fetch(base, { headers: { '${name}': 'b\\r\\nX-Injected: 1' } })`)} }`,
    );
    expect(JSON.stringify(hostile.current.seen)).not.toMatch(/injected/i);
  });

  test('in the path are escaped', async () => {
    await runHostile(`await fetch(base + '/a\\r\\nX-Injected: 1'); await fetch(base + '/b HTTP/1.1'); return {}`);
    expect(hostile.current.seen.map(({ url }) => url)).toEqual(['/aX-Injected:%201', '/b%20HTTP/1.1']);
  });

  test('that frame a message, of one connection, or ours are not sent', async () => {
    const sent = {
      ...{
        'Content-Length': '1',
        'Transfer-Encoding': 'chunked',
        Host: 'other.example',
        Connection: 'x-a',
        'X-A': 'b',
      },
      ...{
        'Keep-Alive': '1',
        Upgrade: 'h2c',
        TE: 'trailers',
        Trailer: 'x',
        Expect: '100-continue',
        'CDN-Loop': 'none',
      },
      ...{
        'SVC-API-KEY': 'x',
        'SVC-PROXY-KEY': 'y',
        'Proxy-Authorization': 'z',
        'Accept-Encoding': 'zstd',
        'X-Kept': '1',
      },
    };
    await runHostile(
      `await fetch(base, { method: 'POST', body: 'four', headers: ${JSON.stringify(sent)} }); return {}`,
    );
    const [{ rawHeaders } = { rawHeaders: [] }] = hostile.current.seen;
    const headers = Object.fromEntries(
      Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
        rawHeaders[2 * i]?.toLowerCase(),
        rawHeaders[2 * i + 1],
      ]),
    );
    expect(headers).toEqual({
      ...{
        host: new URL(hostile.current.url).host,
        connection: 'keep-alive',
        'content-length': '4',
        'cdn-loop': 'sluice',
      },
      ...{ accept: '*/*', 'user-agent': 'sluice', 'accept-encoding': 'gzip, deflate, br' },
      ...{ 'content-type': 'text/plain;charset=UTF-8', 'x-kept': '1' },
    });
  });
});

describe('aborts', () => {
  const states: [string, string, unknown][] = [
    [
      'before the call',
      'const c = new AbortController(); c.abort(); return { raw: TRIED(fetch(base, { signal: c.signal })) }',
      'AbortError',
    ],
    [
      'in the turn of the call',
      "const c = new AbortController(); const p = fetch(base + '/silent', { signal: c.signal }); c.abort(); return { raw: TRIED(p) }",
      'AbortError',
    ],
    [
      'while the head is awaited',
      "const c = new AbortController(); setTimeout(() => c.abort(), 100); return { raw: TRIED(fetch(base + '/silent', { signal: c.signal })) }",
      'AbortError',
    ],
    [
      'by its time',
      "return { raw: TRIED(fetch(base + '/silent', { signal: AbortSignal.timeout(100) })) }",
      'TimeoutError',
    ],
    [
      'while the body comes',
      "const c = new AbortController(); const r = await fetch(base + '/dripping', { signal: c.signal }); setTimeout(() => c.abort(), 100); return { raw: TRIED(r.text()) }",
      'AbortError',
    ],
    [
      'before the body is read',
      "const c = new AbortController(); const r = await fetch(base + '/dripping', { signal: c.signal }); c.abort(); return { raw: TRIED(r.text()) }",
      'AbortError',
    ],
    [
      'after the end',
      'const c = new AbortController(); const r = await fetch(base, { signal: c.signal }); const t = await r.text(); c.abort(); return { raw: t }',
      'ok',
    ],
    [
      'again and again',
      "const c = new AbortController(); const p = fetch(base + '/silent', { signal: c.signal }); for (let i = 0; i < 1000; i++) c.abort(); return { raw: TRIED(p) }",
      'AbortError',
    ],
    [
      'of all at once',
      "const c = new AbortController(); const all = Array.from({ length: 20 }, () => fetch(base + '/silent', { signal: c.signal })); setTimeout(() => c.abort(), 100); return { raw: [...new Set((await Promise.allSettled(all)).map((p) => p.reason.name))].join() }",
      'AbortError',
    ],
    [
      'and a call after it',
      "const c = new AbortController(); const p = fetch(base + '/silent', { signal: c.signal }); c.abort(); await p.catch(() => {}); return { raw: await (await fetch(base)).text() }",
      'ok',
    ],
  ];

  test.each(states)('%s', async (_, statements, expected) => {
    const caught = (call: string) => `await (${call}).then((one) => one, (error) => error.name)`;
    const { raw } = await runHostile(
      statements.replace(/TRIED\((.*)\) \}$/, (__, call: string) => `${caught(call)} }`),
    );
    expect(raw).toBe(expected);
  });
});

test('the code cannot call what its Tenant has no right to through the gateway itself without end', async () => {
  const { url, tenant } = gateway.current;
  const { key } = await tenant.application();
  const { id } = await tenant.reactor({
    code: `module.exports = async ({ args }) => {
      const r = await fetch(args.self, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ args }) });
      return { raw: [r.status, await r.json()] } }`,
  });
  // Its key is not sent on, because headers of ours are removed
  const { body } = await reactAt(url, { id, key, body: { args: { self: `${url}/reactors/${id}/react`, key } } });
  expect(body).toMatchObject({ raw: [401, { status: 401 }] });
});
