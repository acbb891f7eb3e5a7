import { isFullRun, useStack } from '@sluice/testing';
import { operations } from '../app.ts';
import { callerFor } from '../testing/caller-for.ts';
import { rawRequest, statusOf } from '../testing/raw-request.ts';
import { sampleRequest } from '../testing/sample-requests.ts';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));
const mebibyte = 1024 * 1024;

const operationsWithBody = operations.filter(({ body }) => body !== undefined);

const keys = useStack(async () => {
  const callers = operationsWithBody.map(async (one) => [one.id, (await callerFor(api.current, one)).key] as const);
  return new Map(await Promise.all(callers));
});

function head(method: string, path: string, headers: Record<string, string | number | undefined>): string {
  const all = { Host: 'x', Connection: 'close', 'SVC-API-KEY': api.current.tenant.management_key, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const nested = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);

const bodies: [string, string | Buffer][] = [
  ['a cut off object', '{"name":"x"'],
  ['a comment', '{/**/}'],
  ['a trailing comma', '{"name":"x",}'],
  ['single quotes', "{'name':'x'}"],
  ['NaN', '{"name":NaN}'],
  ['two documents', '{}{}'],
  ['only white space', ' \n '],
  ['only a byte order mark', '\ufeff'],
  ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['overlong UTF-8', Buffer.from([0x7b, 0x22, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ['raw NUL bytes', Buffer.from('{"name":"\0"}')],
  ['a NUL character', '{"name":"\\u0000"}'],
  ['a NUL character in a name', '{"\\u0000":1,"name":"x"}'],
  ['a lone surrogate', '{"name":"\\ud800"}'],
  ['a lone surrogate in a name', '{"a":{"\\udc00":1}}'],
  ['a NUL character under __proto__', '{"__proto__":"\\u0000"}'],
  [
    'members of prototypes',
    '{"__proto__":{"name":"x"},"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":null}',
  ],
  ['100,000 nested arrays', nested('[', ']')],
  ['100,000 nested objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['nested arrays in a member', `{"name":"x","rules":${nested('[', ']')}}`],
  ['80,000 members', `{${Array.from({ length: 80_000 }, (_, i) => `"m${i}":0`).join()}}`],
  ['300,000 wrong items', `{"name":5,"type":"private","permissions":[${'1,'.repeat(300_000)}1]}`],
  ['80,000 unknown names', `{"name":5,"rules":[{${Array.from({ length: 80_000 }, (_, i) => `"m${i}":0`).join()}}]}`],
  ['100,000 NUL characters', `{"a":[${'"\\u0000",'.repeat(100_000)}""]}`],
  ['a number that is too large', '{"name":1e999,"rules":[{"priority":1e999}]}'],
  ['a very long name', `{"name":"${'x'.repeat(1_000_000)}"}`],
  ['a very long unknown name', `{"name":5,"rules":[{"${'x'.repeat(1_000_000)}":1}]}`],
  ['a very long permission', `{"name":5,"type":"private","permissions":["${'x'.repeat(1_000_000)}"]}`],
];

/** Each body goes to a quarter of the operations, and another body to the others; in a full run it goes to all. */
const isSent = (nth: number, at: number) => isFullRun || (nth + at) % 4 === 0;

describe.each(bodies.map(([name, body], nth) => [name, body, nth] as const))('%s', (_name, body, nth) => {
  test('is answered with 400 and little text, wherever it is sent', async () => {
    for (const operation of operationsWithBody.filter((_, at) => isSent(nth, at))) {
      const { method, path, options } = sampleRequest(operation);
      const key = { 'SVC-API-KEY': keys.current.get(operation.id) };
      const headers = { ...options.headers, ...key, 'Content-Length': Buffer.byteLength(body) };
      const answer = await rawRequest(api.current.url, head(method, path, headers), body);
      // These operations accept a body without any member they know, and then report the unknown id
      expect([
        400,
        ...(['patchProxy', 'patchReactor', 'createApplicationKey'].includes(operation.id) ? [404] : []),
      ]).toContain(statusOf(answer));
      expect(answer.length).toBeLessThan(64 * 1024);
    }
  });
});

describe('what is unusual and well-formed is taken', () => {
  const type = { headers: { 'Content-Type': 'application/json' } };

  test.each([
    ['a byte order mark', '\ufeff{"name":"x"}'],
    ['the last of duplicate members', '{"name":5,"name":"x"}'],
    ['white space around', ' \r\n\t{"name":"x"}\n '],
    ['escapes', '{"\\u006eame":"\\u0078"}'],
  ])('%s', async (_name, body) => {
    const answer = await api.current.send('PUT', '/tenants/self', { body, ...type });
    expect(answer).toMatchObject({ status: 200, body: { name: 'x' } });
  });
});

describe('a body over 1 MiB, or the limit of the operation, is 413', () => {
  test.each(operationsWithBody.map((operation) => [operation.id, operation] as const))('%s', async (_id, operation) => {
    const { method, path, options } = sampleRequest(operation);
    const tooLarge = Buffer.alloc((operation.bodyLimitBytes ?? mebibyte) + 1, ' ');
    const key = { 'SVC-API-KEY': keys.current.get(operation.id) };
    const headers = { ...options.headers, ...key, 'Content-Length': tooLarge.length };
    expect(statusOf(await rawRequest(api.current.url, head(method, path, headers), tooLarge))).toBe(413);
  });

  test('when its length is announced, before any of it has come', async () => {
    const announced = head('PUT', '/tenants/self', { 'Content-Type': 'application/json', 'Content-Length': 1e12 });
    expect(statusOf(await rawRequest(api.current.url, announced))).toBe(413);
  });

  test('when its length is not announced', async () => {
    const chunked = head('PUT', '/tenants/self', {
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    });
    const chunk = `10000\r\n${' '.repeat(65536)}\r\n`;
    expect(statusOf(await rawRequest(api.current.url, chunked, chunk.repeat(17)))).toBe(413);
    expect(statusOf(await rawRequest(api.current.url, chunked, chunk.repeat(17), '0\r\n\r\n'))).toBe(413);
  });

  test('and an ordinary client can read the answer', async () => {
    for (const size of [mebibyte + 1, 8 * mebibyte]) {
      const answer = await api.current.send('PUT', '/tenants/self', { body: `{"name":"x"}${' '.repeat(size)}` });
      expect(answer).toMatchObject({ status: 413, body: { title: 'Payload too large' } });
    }
  });

  test('exactly 1 MiB is taken', async () => {
    const body = '{"name":"x"}'.padEnd(mebibyte);
    expect((await api.current.send('PUT', '/tenants/self', { body })).status).toBe(200);
  });
});

describe('requests that are hardly HTTP', () => {
  test('more than 100 headers are 431, and the answer says so', async () => {
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`X-Header-${i}`, '1']));
    const answer = await api.current.send('GET', '/tenants/self', { headers });
    expect(answer.status).toBe(431);
    expect(answer.body.detail).toContain('100');
  });

  test('a huge header is 431', async () => {
    const answer = await rawRequest(api.current.url, head('GET', '/permissions', { 'X-Large': 'x'.repeat(20_000) }));
    expect(statusOf(answer)).toBe(431);
  });

  test('a key that is sent twice is none', async () => {
    const key = api.current.tenant.management_key;
    const request = `GET /permissions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nSVC-API-KEY: ${key}\r\nSVC-API-KEY: ${key}\r\n\r\n`;
    expect(statusOf(await rawRequest(api.current.url, request))).toBe(401);
  });

  test('a length and chunks at once are 400', async () => {
    const request = head('POST', '/applications', { 'Content-Length': 3, 'Transfer-Encoding': 'chunked' });
    expect(statusOf(await rawRequest(api.current.url, request, '0\r\n\r\n'))).toBe(400);
  });

  test.each([
    '/applications/%',
    '/applications/%zz',
    '/applications/%c0%80',
    '/applications/%ff',
    'http://other.example/permissions',
  ])('GET %s is 400', async (target) => {
    expect(statusOf(await rawRequest(api.current.url, head('GET', target, {})))).toBe(400);
  });

  test.each(['/permissions?%', '/permissions?a=%ff&application_type='])('GET %s is answered', async (target) => {
    expect(statusOf(await rawRequest(api.current.url, head('GET', target, {})))).toBe(200);
  });

  test('a client that leaves in the middle of its body is not our failure', async () => {
    const { logLines, url } = api.current;
    const start = logLines.length;
    const request = head('POST', '/applications', { 'Content-Type': 'application/json', 'Content-Length': 100 });
    const { connect } = await import('node:net');
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`${request}{"name":`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const lines = logLines.slice(start).map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

test('after all of this the service still answers', async () => {
  expect((await api.current.send('GET', '/permissions')).status).toBe(200);
});
