import { ServiceError } from '@sluice/problems';
import { eventually } from '@sluice/testing';
import type { FetchAnswer, FetchHost, FetchRequest } from './fetches.ts';
import { openTestPool } from './testing/test-pool.ts';
import type { TransformTask } from './transform-task.ts';

const pool = openTestPool({ limits: { fetchCalls: 3, fetchBytes: 1000, hostCalls: 4 }, threads: 2 });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const answer = (body = 'ok', more: Partial<FetchAnswer> = {}): FetchAnswer => ({
  ...{ status: 200, statusText: 'OK', headers: [], body: async () => Buffer.from(body) },
  ...more,
});

const moduleOf = (statements: string) => `module.exports = async (req) => { ${statements} }`;

async function raw(statements: string, task: Partial<TransformTask> = {}): Promise<unknown> {
  const result = await pool.body(moduleOf(statements), { kind: 'reactor', argsJson: '{}', ...task });
  return (result as { raw?: unknown }).raw;
}

/** Notes what is asked, and when a call is aborted. */
function noting(respond: (request: FetchRequest, signal: AbortSignal) => Promise<FetchAnswer> = async () => answer()) {
  const seen: FetchRequest[] = [];
  const aborted: string[] = [];
  const fetch: FetchHost = (request, signal) => {
    seen.push(request);
    signal.addEventListener('abort', () => aborted.push(request.url));
    return respond(request, signal);
  };
  return { seen, aborted, fetch };
}

const never = () => new Promise<never>(() => {});
const untilAborted = (_: FetchRequest, signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
const tried = (call: string) =>
  `await ${call}.then(() => 'answered', (error) => [error.name, error.message, error.cause?.message])`;

describe('transforms', () => {
  test.each(['fetch', 'Headers', 'Request', 'Response'])('have no %s', async (name) => {
    expect(await pool.evaluate(`return typeof globalThis.${name}`)).toBe('undefined');
    expect(await raw(`return { raw: typeof ${name} }`)).toBe('function'); // Control
  });

  test('cannot get one, also on the thread and with the code of a reactor', async () => {
    const code = 'module.exports = async () => ({ body: typeof fetch, raw: typeof fetch })';
    const { fetch, seen } = noting();
    await expect(pool.run(code, { kind: 'reactor', fetch }))
      .rejects.toMatchObject({ detail: expect.stringContaining('raw') })
      .catch(() => {});
    const asTransform = 'module.exports = async () => ({ body: typeof fetch })';
    expect(await pool.body(asTransform, { fetch })).toBe('undefined');
    expect(seen).toEqual([]);
  });
});

describe('calls', () => {
  test('reach the host as they are, with a body in bytes', async () => {
    const { fetch, seen } = noting();
    await raw(
      `await fetch('https://a.example/b?c=d#e', { method: 'post', body: 'ü', headers: { 'X-A': 'b' } }); return {}`,
      { fetch },
    );
    await raw(`await fetch('https://a.example', { method: 'PUT', body: new Uint8Array([0, 255]) }); return {}`, {
      fetch,
    });
    const type = ['content-type', 'text/plain;charset=UTF-8'];
    expect(seen).toEqual([
      {
        url: 'https://a.example/b?c=d',
        method: 'POST',
        headers: [type, ['x-a', 'b']],
        body: new Uint8Array(Buffer.from('ü')),
      },
      { url: 'https://a.example/', method: 'PUT', headers: [], body: new Uint8Array([0, 255]) },
    ]);
  });

  test('beyond the limit reject, and the run goes on', async () => {
    const { fetch, seen } = noting();
    const statements = `const all = []; for (let i = 0; i < 5; i++) all.push(${tried("fetch('http://a.example/' + i)")}); return { raw: all }`;
    const refused = ['TypeError', 'fetch failed', 'A run may call fetch at most 3 times'];
    expect(await raw(statements, { fetch })).toEqual(['answered', 'answered', 'answered', refused, refused]);
    expect(seen).toHaveLength(3);
    expect(await raw(statements, { fetch })).toHaveLength(5); // the next run has calls of its own
    expect(seen).toHaveLength(6);
  });

  test('count apart from those of the client', async () => {
    const { fetch } = noting();
    const statements = `for (let i = 0; i < 3; i++) await fetch('http://a.example');
      for (let i = 0; i < 4; i++) await req.svc.tokenize(i); return { raw: 'done' }`;
    expect(await raw(statements, { fetch, host: async () => '1' })).toBe('done');
    const one = pool.failure(moduleOf(statements.replace('i < 4', 'i < 5')), {
      kind: 'reactor',
      fetch,
      host: async () => '1',
    });
    expect((await one).detail).toContain('more than 4 calls of the service');
  });

  test('with a body that is too large reject', async () => {
    const { fetch, seen } = noting();
    const send = (body: string) =>
      raw(`return { raw: ${tried(`fetch('http://a.example', { method: 'POST', body: ${body} })`)} }`, { fetch });
    const refused = ['TypeError', 'fetch failed', 'A body may have at most 1000 bytes'];
    expect(await send(`'x'.repeat(1000)`)).toBe('answered');
    expect(await send(`'x'.repeat(1001)`)).toEqual(refused);
    expect(await send(`'ü'.repeat(501)`)).toEqual(refused);
    expect(await send(`'x'.repeat(1e6)`)).toEqual(refused);
    expect(await send('new Uint8Array(1000)')).toBe('answered');
    expect(await send('new Uint8Array(1001)')).toEqual(refused);
    expect(seen).toHaveLength(2);
  });

  test.each([
    "require('stream').Readable.from(['a'])",
    "{ async *[Symbol.asyncIterator]() { yield 'a' } }",
    '{ getReader() {} }',
  ])('with the stream %s as body reject instead of sending [object Object]', async (body) => {
    const { fetch, seen } = noting();
    const send = `fetch('http://a.example', { method: 'POST', body: ${body} })`;
    expect(await raw(`return { raw: ${tried(send)} }`, { fetch })).toEqual([
      'TypeError',
      expect.stringContaining('read the stream first'),
      null, // it has no cause
    ]);
    expect(seen).toEqual([]);
  });

  test('with too many headers, or too long ones or a too long URL, reject', async () => {
    const { fetch, seen } = noting();
    const send = (init: string, path = "''") =>
      raw(`return { raw: ${tried(`fetch('http://a.example/' + ${path}, ${init})`)} }`, { fetch });
    const refused = [
      'TypeError',
      'fetch failed',
      'A request may have at most 100 headers, with at most 16384 bytes in total',
    ];
    expect(await send("{ headers: Array.from({ length: 101 }, (_, i) => ['x-' + i, 'y']) }")).toEqual(refused);
    expect(await send("{ headers: { x: 'y'.repeat(16384) } }")).toEqual(refused);
    expect(await send('{}', "'x'.repeat(16384)")).toMatchObject([
      'TypeError',
      'fetch failed',
      expect.stringContaining('URL'),
    ]);
    expect(await send("{ headers: Array.from({ length: 100 }, (_, i) => ['x-' + i, 'y']) }")).toBe('answered');
    expect(seen).toHaveLength(1);
  });

  test('reject with what the host says, which also stands in an error that nothing catches', async () => {
    const fetch = async () => Promise.reject(new ServiceError('destination_unreachable', 'Nobody is there'));
    expect(await raw(`return { raw: ${tried("fetch('http://a.example')")} }`, { fetch })).toEqual([
      'TypeError',
      'fetch failed',
      'Nobody is there',
    ]);
    const code = moduleOf("await fetch('http://a.example')");
    expect((await pool.failure(code, { kind: 'reactor', fetch })).detail).toBe(
      'TypeError: fetch failed: Nobody is there',
    );
  });

  test('tell nothing of a fault of ours', async () => {
    const fetch = async () => Promise.reject(new Error('an internal secret'));
    expect(JSON.stringify(await raw(`return { raw: ${tried("fetch('http://a.example')")} }`, { fetch }))).not.toContain(
      'secret',
    );
  });

  test('reject where nothing is called, as in a test', async () => {
    expect(await raw(`return { raw: ${tried("fetch('http://a.example')")} }`)).toEqual([
      'TypeError',
      'fetch failed',
      'A test run cannot call fetch',
    ]);
  });

  test('bodies of answers that are too large or break off reject, and the rest of the answer stays', async () => {
    const fetch = async () =>
      answer('', { status: 201, body: () => Promise.reject(new ServiceError('destination_failed', 'cut')) });
    const statements = `const r = await fetch('http://a.example'); return { raw: [r.status, ${tried('r.text()')}] }`;
    expect(await raw(statements, { fetch })).toEqual([201, ['TypeError', 'terminated', 'cut']]);
  });
});

describe('the end of a run', () => {
  test.each<[string, string]>([
    [
      'returns',
      "void fetch('http://a.example/left').catch(() => {}); await fetch('http://a.example/done'); return { raw: 1 }",
    ],
    ['throws', "void fetch('http://a.example/left').catch(() => {}); await fetch('http://a.example/done'); throw 1"],
    [
      'is stopped',
      "void fetch('http://a.example/left').catch(() => {}); await fetch('http://a.example/done'); for (;;);",
    ],
  ])('aborts what it left under way when it %s', async (_, statements) => {
    const { fetch, aborted } = noting((request, signal) =>
      request.url.endsWith('done') ? Promise.resolve(answer()) : untilAborted(request, signal),
    );
    await pool.run(moduleOf(statements), { kind: 'reactor', fetch, once: true }).catch(() => {});
    expect(aborted).toContain('http://a.example/left');
  });

  test('by its own time ends it, although the call goes on', async () => {
    const { fetch, aborted, seen } = noting(untilAborted);
    const error = await pool.failure(moduleOf("await fetch('http://a.example/slow')"), {
      kind: 'reactor',
      fetch,
      wallMs: 1000,
    });
    expect([error.code, error.detail]).toEqual([
      'reactor_failed',
      'The reactor was stopped: it took longer than 1000 ms',
    ]);
    expect(aborted).toEqual(seen.map(({ url }) => url)); // on a busy machine it may not have come to its call
  });

  test('leaves its answers to nobody: another run cannot read them', async () => {
    const version = {};
    const fetch = async (request: FetchRequest) => answer(`secret of ${request.url}`);
    const code = moduleOf(`
      if (req.args.first) { globalThis.kept = await fetch('http://a.example/1'); return { raw: kept.status } }
      return { raw: [${tried('kept.text()')}, await (await fetch('http://a.example/2')).text()] }`);
    const one = { kind: 'reactor', version, fetch } as const;
    expect(await pool.body(code, { ...one, argsJson: '{"first":true}' })).toEqual({ raw: 200 });
    const second = (await pool.body(code, { ...one, argsJson: '{}' })) as { raw: unknown[] };
    expect(second.raw[0]).toMatchObject([
      'TypeError',
      'terminated',
      'The response to this call of fetch was already read or aborted, or belongs to another run',
    ]);
    expect(second.raw[1]).toBe('secret of http://a.example/2');
  });
});

describe('a run that is aborted', () => {
  const reason = new Error('nobody wants it');
  const goesOn =
    "await fetch('http://a.example/1').catch(() => {}); await new Promise((resolve) => setTimeout(resolve, 3600_000)); return {}";

  test('ends with the reason, although its code goes on: its calls are aborted, and its thread is free', async () => {
    const leaving = new AbortController();
    const { fetch, seen, aborted } = noting(untilAborted);
    const run = pool.run(moduleOf(goesOn), { kind: 'reactor', fetch, signal: leaving.signal, wallMs: 300_000 });
    await eventually('it calls', () => seen.length === 1);
    leaving.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect([aborted, pool.state().running]).toEqual([['http://a.example/1'], 0]);
  });

  test('also while it waits for nothing but a timer', async () => {
    const leaving = new AbortController();
    const { fetch, seen } = noting();
    const run = pool.run(moduleOf(goesOn), { kind: 'reactor', fetch, signal: leaving.signal, wallMs: 300_000 });
    await eventually('it calls', () => seen.length === 1);
    leaving.abort(reason);
    await expect(run).rejects.toBe(reason);
  });

  test('before its first call, calls nothing', async () => {
    const leaving = new AbortController();
    const { fetch, seen } = noting();
    const look = async () => leaving.abort(reason);
    const run = pool.run(moduleOf(goesOn), { kind: 'reactor', fetch, look, signal: leaving.signal, wallMs: 300_000 });
    await expect(run).rejects.toBe(reason);
    expect(seen).toEqual([]);
  });

  test('before it has a thread, does not begin', async () => {
    const host = jest.fn(async () => '1');
    const code = moduleOf('await req.svc.tokenize(1); return {}');
    const task = { kind: 'reactor', host, signal: AbortSignal.abort(reason) } as const;
    await expect(pool.run(code, task)).rejects.toBe(reason);
    expect(host).not.toHaveBeenCalled();
  });
});

describe('time', () => {
  test('stands still where nothing can be called, as in a trial', async () => {
    const statements = 'await new Promise((resolve) => setTimeout(resolve, 3600_000)); return { raw: 1 }';
    expect(await raw(statements)).toBe(1); // the limit is shorter
  });

  test('passes before the first call and between two: destinations see the pauses', async () => {
    const times = [performance.now()];
    const fetch = async () => {
      times.push(performance.now());
      return answer();
    };
    const pause = 'await new Promise((resolve) => setTimeout(resolve, 150));';
    await raw(`${pause} await fetch('http://a.example'); ${pause} await fetch('http://a.example'); return {}`, {
      fetch,
    });
    const [began = 0, first = 0, second = 0] = times;
    expect(first - began).toBeGreaterThanOrEqual(149);
    expect(second - first).toBeGreaterThanOrEqual(149);
  });

  test('also in a run that calls nothing, within its limit', async () => {
    const statements = 'await new Promise((resolve) => setTimeout(resolve, 3600_000)); return {}';
    const error = await pool.failure(moduleOf(statements), { kind: 'reactor', fetch: noting().fetch, wallMs: 300 });
    expect(error.detail).toContain('it took longer than 300 ms');
  });

  test('lets timers fire in their order while a call is awaited', async () => {
    const { fetch } = noting(never);
    const statements = `const seen = []; void fetch('http://a.example').catch(() => {});
      await new Promise((resolve) => { setTimeout(() => { seen.push(2); resolve() }, 40); setTimeout(() => seen.push(1), 10); setImmediate(() => seen.push(0)) });
      return { raw: seen }`;
    expect(await raw(statements, { fetch })).toEqual([0, 1, 2]);
  });

  test('an interval ends with the call that it waits for', async () => {
    const { promise: ticked, resolve: tick } = Promise.withResolvers<FetchAnswer>();
    const { fetch } = noting(async ({ url }) => {
      if (url.endsWith('/waits')) return await ticked;
      tick(answer());
      return answer();
    });
    const statements = `let ticks = 0; const timer = setInterval(() => { if (++ticks === 1) void fetch('http://a.example/ticks') }, 5);
      await fetch('http://a.example/waits'); clearInterval(timer); return { raw: ticks }`;
    expect(await raw(statements, { fetch })).toBeGreaterThan(0);
  });

  test('a promise that can never settle is found at once also after a call', async () => {
    const error = await pool.failure(moduleOf("await fetch('http://a.example'); await new Promise(() => {})"), {
      kind: 'reactor',
      fetch: noting().fetch,
    });
    expect(error.detail).toContain('can never settle');
  });
});

test('a run that has called out is not begun anew in a slow thread', async () => {
  const { fetch, seen } = noting();
  const busy = 'const end = performance.now() + 400; while (performance.now() < end);';
  const tenant = { tenantId: 'slow', fetch } as const;
  expect(await raw(`await fetch('http://a.example'); ${busy} return { raw: 1 }`, tenant)).toBe(1);
  expect(seen).toHaveLength(1);
});
