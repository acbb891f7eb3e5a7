import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { createHttpServer, expressApi, operationsOf, Reply } from './index.ts';

/** Occurs in values of bodies, so it must not occur in an answer. */
const secret = 'hunter2';
const limitBytes = 1024 * 1024;

let server: Server;
let url: string;
let received: unknown;

beforeAll(async () => {
  const operation = operationsOf<object>();
  const shared = { tag: 'T', summary: 'S', method: 'post', response: { 204: null }, handle } as const;
  async function handle({ body }: { body: unknown }): Promise<Reply> {
    received = body;
    return new Reply(204, undefined);
  }
  const operations = [
    operation({ ...shared, id: 'open', path: '/open', body: { type: 'object' } }),
    operation({ ...shared, id: 'opaque', path: '/opaque', body: { type: 'object' }, opaque: ['data'] }),
    operation({
      ...shared,
      id: 'typed',
      path: '/typed',
      body: { type: 'object', additionalProperties: { type: 'string' } },
    }),
    operation({
      ...shared,
      id: 'closed',
      path: '/closed',
      body: { type: 'object', additionalProperties: false, properties: { a: { type: 'string', default: 'x' } } },
    }),
  ];
  const app = expressApi({
    operations,
    context: {},
    authenticate: async () => ({ id: 'a', tenantId: 't', type: 'private', permissions: [], rules: [] }),
    headerPrefix: 'SVC',
    log: pino({ level: 'silent' }),
  });
  server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function exchange(bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

test.each([
  ['HTTP/1.0 with chunks', 'POST /open HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked'],
  ['another transfer coding', 'POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked'],
  ['a length beyond what numbers count', 'POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9007199254740993'],
])('%s is 400, and nothing behind it on the connection is read', async (_, head) => {
  const answer = await exchange(
    `${head}\r\nContent-Type: application/json\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /open HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  expect(answer.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400']);
  expect(answer).toMatch(/^connection: close/im);
});

async function send(body: string | Uint8Array, path = '/open') {
  received = undefined;
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : Uint8Array.from(body),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

async function expectRefusal(body: string | Uint8Array, path?: string) {
  const { status, type, text } = await send(body, path);
  expect({ status, type, text }).toEqual({
    status: 400,
    type: expect.stringContaining('application/problem+json'),
    text: expect.not.stringContaining(secret),
  });
  const problem = JSON.parse(text);
  expect(problem).toMatchObject({ status: 400, title: 'One or more validation errors occurred.' });
  expect(Object.values(problem.errors).flat()).not.toEqual([]);
  return problem.errors as Record<string, string[]>;
}

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const bigEndian = (text: string): Buffer => utf16(text).swap16();
const a = (text: string): string => `{"a":${text}}`;
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}"${secret}"${'}'.repeat(levels)}`;

describe('accepted, as it was sent:', () => {
  const cases: [string, string | Uint8Array, unknown][] = [
    ['an empty object', '{}', {}],
    ['whitespace of every kind around everything', ' \t\r\n{ "a"\t:\r\n1 }\n ', { a: 1 }],
    ['true, false, null', '{"a":true,"b":false,"c":null}', { a: true, b: false, c: null }],
    ['an empty array', a('[]'), { a: [] }],
    ['an array of every type', a('[null,1,"1",{},[],true]'), { a: [null, 1, '1', {}, [], true] }],
    ['an empty name', '{"":0}', { '': 0 }],
    ['an empty string', a('""'), { a: '' }],
    ['zero', a('0'), { a: 0 }],
    ['minus zero', a('-0'), { a: -0 }],
    ['a negative integer', a('-123'), { a: -123 }],
    ['a fraction', a('123.456789'), { a: 123.456789 }],
    ['an exponent', a('1e2'), { a: 100 }],
    ['a capital exponent with plus', a('1E+2'), { a: 100 }],
    ['a negative exponent', a('1e-2'), { a: 0.01 }],
    ['zero with an exponent', a('0e1'), { a: 0 }],
    ['a fraction with an exponent', a('0.5e1'), { a: 5 }],
    ['the greatest safe integer', a('9007199254740991'), { a: Number.MAX_SAFE_INTEGER }],
    ['the greatest double', a('1.7976931348623157e308'), { a: Number.MAX_VALUE }],
    ['all simple escapes', a('"\\"\\\\\\/\\b\\f\\n\\r\\t"'), { a: '"\\/\b\f\n\r\t' }],
    ['an escaped letter', a('"\\u0061"'), { a: 'a' }],
    ['hexadecimal digits in both cases', a('"\\u00Eb"'), { a: 'ë' }],
    ['an escaped pair of surrogates', a('"\\uD83D\\ude00"'), { a: '😀' }],
    ['an escape in a name', '{"\\u0061\\n":1}', { 'a\n': 1 }],
    ['an escaped backslash before u', a('"\\\\u0000"'), { a: '\\u0000' }],
    ['an escaped control character', a('"\\u0001\\u001f"'), { a: '\u0001\u001f' }],
    ['DEL as it is', a('"\x7f"'), { a: '\x7f' }],
    ['two, three and four bytes of UTF-8', a('"é€😀"'), { a: 'é€😀' }],
    ['noncharacters', a('"\uffff\u{10ffff}"'), { a: '\uffff\u{10ffff}' }],
    ['U+2028 and U+2029', a('"\u2028\u2029"'), { a: '\u2028\u2029' }],
    ['a zero width joiner and an override of direction', a('"\u200d\u202e"'), { a: '\u200d\u202e' }],
    ['a BOM inside a string', a('"\ufeff"'), { a: '\ufeff' }],
    ['what looks like a comment, in a string', a('"/* // */"'), { a: '/* // */' }],
    ['what looks like JSON, in a string', a('"{\\"b\\":[1,]}"'), { a: '{"b":[1,]}' }],
    ['names that are numbers', '{"0":1,"-1":2}', { '0': 1, '-1': 2 }],
    ['names that differ in case', '{"a":1,"A":2}', { a: 1, A: 2 }],
    ['63 levels', nested(63), JSON.parse(nested(63))],
    ['a string of 100,000 characters', a(`"${'x'.repeat(100_000)}"`), { a: 'x'.repeat(100_000) }],
    ['100,000 numbers', a(`[${'1,'.repeat(99_999)}1]`), { a: Array(100_000).fill(1) }],
    ['a name of 10,000 characters', `{"${'n'.repeat(10_000)}":1}`, { ['n'.repeat(10_000)]: 1 }],
  ];

  test.each(cases)('%s', async (_name, body, value) => {
    expect(await send(body)).toMatchObject({ status: 204, text: '' });
    expect(received).toEqual(value);
  });
});

describe('400 with a problem document:', () => {
  const texts: [string, string][] = [
    ['nothing', ''],
    ['whitespace only', ' \r\n\t '],
    ['null', 'null'],
    ['a number', '123'],
    ['a string', `"${secret}"`],
    ['a boolean', 'true'],
    ['an array', `["${secret}"]`],
    ['a bare word', secret],
    ['an unclosed object', `{"a":"${secret}"`],
    ['an unclosed array', a(`["${secret}"`)],
    ['an unclosed string', `{"a":"${secret}`],
    ['an unopened object', `"a":"${secret}"}`],
    ['brackets that do not match', a(`["${secret}"}`)],
    ['a comma at the end of an object', `{"a":"${secret}",}`],
    ['a comma at the end of an array', a(`["${secret}",]`)],
    ['two commas', a(`["${secret}",,1]`)],
    ['a comma at the start', `{,"a":"${secret}"}`],
    ['no comma', `{"a":"${secret}" "b":1}`],
    ['no colon', `{"a" "${secret}"}`],
    ['two colons', `{"a"::"${secret}"}`],
    ['a comma for a colon', `{"a","${secret}"}`],
    ['a colon in an array', a(`["${secret}":1]`)],
    ['no value', '{"a":}'],
    ['no name', `{:"${secret}"}`],
    ['a name without quotes', `{a:"${secret}"}`],
    ['a name that is a number', `{1:"${secret}"}`],
    ['single quotes', `{'a':'${secret}'}`],
    ['backquotes', `{"a":\`${secret}\`}`],
    ['typographic quotes', `{“a”:“${secret}”}`],
    ['a line comment', `{"a":"${secret}"} // x`],
    ['a block comment', `{/* x */"a":"${secret}"}`],
    ['a hash comment', `{"a":"${secret}"} # x`],
    ['text after the value', `{"a":"${secret}"}x`],
    ['two values', `{"a":"${secret}"}{"b":1}`],
    ['two lines of JSON', `{"a":"${secret}"}\n{"b":1}`],
    ['a closing brace too many', `{"a":"${secret}"}}`],
    ['NUL after the value', `{"a":"${secret}"}\0`],
    ['a form feed as whitespace', `{\f"a":"${secret}"}`],
    ['a no-break space as whitespace', `{\u00a0"a":"${secret}"}`],
    ['U+2028 as whitespace', `{\u2028"a":"${secret}"}`],
    ['a BOM in the middle', `{\ufeff"a":"${secret}"}`],
    ['a leading zero', a('012')],
    ['a leading zero after minus', a('-012')],
    ['a plus sign', a('+1')],
    ['two minus signs', a('--1')],
    ['minus alone', a('-')],
    ['a point at the start', a('.5')],
    ['a point at the end', a('5.')],
    ['a point before the exponent', a('5.e1')],
    ['two points', a('1.2.3')],
    ['an exponent without digits', a('1e')],
    ['an exponent with a sign only', a('1e+')],
    ['two exponents', a('1e1e1')],
    ['hexadecimal', a('0x1F')],
    ['a digit separator', a('1_000')],
    ['a big integer literal', a('1n')],
    ['NaN', a('NaN')],
    ['Infinity', a('Infinity')],
    ['minus Infinity', a('-Infinity')],
    ['undefined', a('undefined')],
    ['capital True', a('True')],
    ['nul', a('nul')],
    ['digits of another script', a('１２')],
    ['an expression', a('1+1')],
    ['an unknown escape', a(`"${secret}\\x41"`)],
    ['an escaped quote of the wrong kind', a(`"${secret}\\'"`)],
    ['an escape of a line end', a(`"${secret}\\\n"`)],
    ['an octal escape', a(`"${secret}\\101"`)],
    ['a capital U escape', a(`"${secret}\\U0041"`)],
    ['an escape that is too short', a(`"${secret}\\u00"`)],
    ['an escape with a wrong digit', a(`"${secret}\\u00g0"`)],
    ['an escape with braces', a(`"${secret}\\u{61}"`)],
    ['a backslash at the end', `{"a":"${secret}\\"}`],
    ['an escape outside of a string', `{\\u0022a":"${secret}"}`],
    ['a line feed in a string', a(`"${secret}\n"`)],
    ['a tab in a string', a(`"${secret}\t"`)],
    ['NUL in a string', a(`"${secret}\0"`)],
    ['ESC in a string', a(`"${secret}\x1b"`)],
    ['U+001F in a name', `{"a\x1f":"${secret}"}`],
    // Valid JSON that a store cannot keep.
    ['an escaped NUL', a(`"${secret}\\u0000"`)],
    ['an escaped NUL in a name', `{"a\\u0000":"${secret}"}`],
    ['a lone high surrogate', a(`"${secret}\\uD800"`)],
    ['a lone low surrogate', a(`"${secret}\\uDC00"`)],
    ['a pair of surrogates the wrong way round', a(`"${secret}\\uDE00\\uD83D"`)],
    ['a high surrogate before a letter', a(`"${secret}\\uD83Dx"`)],
    ['a lone surrogate in a name', `{"\\uD800":"${secret}"}`],
    ['65 levels of objects', nested(65)],
    ['100,000 arrays in each other', a(`${'['.repeat(100_000)}"${secret}"${']'.repeat(100_000)}`)],
    ['100,000 objects in each other', nested(100_000)],
    ['100,000 arrays, never closed', a('['.repeat(100_000))],
    ['100,000 objects, never closed', '{"a":'.repeat(100_000)],
    ['100,000 closing brackets', `{"a":"${secret}"${']'.repeat(100_000)}`],
  ];
  test.each(texts)('%s', (_name, body) => expectRefusal(body));

  const byteCases: [string, Uint8Array][] = [
    ['a continuation byte alone', bytes(`{"a":"${secret}`, [0x80], '"}')],
    ['a sequence that ends early', bytes(`{"a":"${secret}`, [0xe2, 0x82], '"}')],
    ['a sequence cut off by the end of the body', bytes(`{"a":"${secret}`, [0xf0, 0x9f])],
    ['the byte FF', bytes(`{"a":"${secret}`, [0xff], '"}')],
    ['ISO 8859-1', bytes(`{"a":"${secret}`, [0xe9], '"}')],
    ['an overlong slash', bytes(`{"a":"${secret}`, [0xc0, 0xaf], '"}')],
    ['an overlong NUL', bytes(`{"a":"${secret}`, [0xc0, 0x80], '"}')],
    ['an overlong sequence of three', bytes(`{"a":"${secret}`, [0xe0, 0x80, 0xaf], '"}')],
    ['an overlong quote in a name', bytes('{"a', [0xc0, 0xa2], `":"${secret}"}`)],
    ['a surrogate in UTF-8', bytes(`{"a":"${secret}`, [0xed, 0xa0, 0x80], '"}')],
    ['a pair of surrogates in CESU-8', bytes(`{"a":"${secret}`, [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], '"}')],
    ['past U+10FFFF', bytes(`{"a":"${secret}`, [0xf4, 0x90, 0x80, 0x80], '"}')],
    ['five bytes', bytes(`{"a":"${secret}`, [0xf8, 0x88, 0x80, 0x80, 0x80], '"}')],
    ['a bad byte after the value', bytes(`{"a":"${secret}"}`, [0xfe])],
    ['UTF-16, little-endian', utf16(`{"a":"${secret}"}`)],
    ['UTF-16, big-endian', bigEndian(`{"a":"${secret}"}`)],
    ['UTF-16 with a BOM', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(`{"a":"${secret}"}`)])],
    ['a BOM of UTF-16, then UTF-8', bytes([0xfe, 0xff], `{"a":"${secret}"}`)],
    ['half a BOM', bytes([0xef, 0xbb], `{"a":"${secret}"}`)],
    ['a BOM and nothing', bytes([0xef, 0xbb, 0xbf])],
    ['two BOMs', bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], `{"a":"${secret}"}`)],
    ['NUL bytes only', Buffer.alloc(16)],
    ['gzip without its header', bytes([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3], secret)],
  ];
  test.each(byteCases)('%s', (_name, body) => expectRefusal(body));
});

describe('either, but never our failure, and repeated nowhere:', () => {
  const cases: [string, string | Uint8Array][] = [
    ['a BOM', bytes([0xef, 0xbb, 0xbf], `{"a":"${secret}"}`)],
    ['the same name twice', `{"a":"${secret}","a":1}`],
    ['the same name twice, once escaped', `{"a":"${secret}","\\u0061":1}`],
    ['an integer past 2^53', a('9007199254740993')],
    ['an integer of 1,000 digits', a('9'.repeat(1000))],
    ['a number past the doubles', a('1e400')],
    ['a negative number past the doubles', a('-1e400')],
    ['a number too small to be told from zero', a('1e-400')],
    ['an exponent of 1,000 digits', a(`1e${'9'.repeat(1000)}`)],
    ['a fraction of 100,000 digits', a(`0.${'1'.repeat(100_000)}`)],
    ['64 levels', nested(64)],
    ['60,000 members', `{${Array.from({ length: 60_000 }, (_, i) => `"${i}":1`).join()}}`],
    ['100,000 faults', a(`[${'"\\u0000",'.repeat(100_000)}"${secret}"]`)],
  ];
  test.each(cases)('%s', async (_name, body) => {
    const { status, text } = await send(body);
    expect([204, 400]).toContain(status);
    expect(text).not.toContain(secret);
    expect(text.length).toBeLessThan(100_000);
  });
});

describe('an opaque member', () => {
  test.each(['"\\u0000"', '"\\uD800"', '{"\\u0000":["\\uDFFF"]}'])('may hold %s', async (value) => {
    expect((await send(`{"data":${value}}`, '/opaque')).status).toBe(204);
    expect(received).toEqual({ data: JSON.parse(value) });
    await expectRefusal(`{"other":${value}}`, '/opaque');
  });
});

describe('size', () => {
  const padded = (size: number) => `{"a":"${secret}"}`.padEnd(size);

  test.each([
    [limitBytes - 1, 204],
    [limitBytes, 204],
    [limitBytes + 1, 413],
  ])('%d bytes are %d', async (size, expected) => {
    const { status, text } = await send(padded(size));
    expect(status).toBe(expected);
    expect(text).not.toContain(secret);
  });

  test('is counted in bytes, not in characters', async () => {
    const body = `{"a":"${'é'.repeat(limitBytes / 2)}"}`;
    expect(body.length).toBeLessThan(limitBytes);
    expect((await send(body)).status).toBe(413);
  });
});

describe('names of what every object inherits', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
  const untouched = Object.getOwnPropertyNames(Object.prototype).sort();

  afterEach(() => {
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(untouched);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each(names)('%s is a member like any other', async (name) => {
    for (const value of ['{"polluted":true}', '"x"', '{"prototype":{"polluted":true}}', '[]']) {
      const body = `{"${name}":${value},"a":{"${name}":${value}}}`;
      expect((await send(body)).status).toBe(204);
      expect(JSON.stringify(received)).toBe(body);
    }
  });

  test.each(names)('%s is refused where members are named or typed, by its name', async (name) => {
    const closed = await expectRefusal(`{"${name}":{"polluted":true}}`, '/closed');
    expect(Object.entries(closed)).toEqual([[name, ['is not a known field']]]);
    const typed = await expectRefusal(`{"${name}":5}`, '/typed');
    expect(Object.entries(typed)).toEqual([[name, ['must be a string']]]);
    const nul = await expectRefusal(`{"${name}":"\\u0000"}`);
    expect(Object.entries(nul)).toEqual([[name, ['contains a NUL character']]]);
  });
});

test('after all of this it still answers', async () => {
  expect((await send('{}')).status).toBe(204);
});
