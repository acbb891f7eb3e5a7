import { createRequire } from 'node:module';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool({ limits: { cpuMs: 2_000 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const require = createRequire(import.meta.url);

/** The same statements in Node.js itself. */
async function inNode(statements: string): Promise<unknown> {
  const run = new Function('require', `return (async () => { ${statements} })()`);
  const value: unknown = await run(require);
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Each must give in the sandbox what it gives in Node.js. */
const statements = {
  'Buffer from and to text': `
    const text = 'aé😀\\u0000z';
    return ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'utf16le', 'binary', 'ucs2', 'UTF-8'].map((e) =>
      [Buffer.from(text).toString(e), Buffer.from(Buffer.from(text).toString(e), e).toString('hex'), Buffer.byteLength(text, e)])`,
  'Buffer from ill-formed text': `
    return [Buffer.from('zz11', 'hex').length, Buffer.from('1', 'hex').length, Buffer.from('a b=c', 'base64').toString(),
      Buffer.from('_-8', 'base64').toString('hex'), Buffer.from('\\ud800x').toString('hex')]`,
  'Buffer of ill-formed UTF-8': `
    return ['ff41', 'e282', 'f0908d', 'c0af', 'eda080', 'f4908080', 'e2828a80', '80', 'f09f9880'].map((hex) => Buffer.from(hex, 'hex').toString())`,
  'Buffer from other values': `
    return [Buffer.from([1, 256, -1, 2.7]), Buffer.from(new Uint8Array([1, 2])), Buffer.from(Buffer.from('x')), Buffer.from({ length: 2, 0: 7 }),
      Buffer.from(new Uint16Array([1, 300])), Buffer.from(JSON.parse(JSON.stringify(Buffer.from('y')))), Buffer.from(new String('s')),
      Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)]`,
  'Buffer methods': `
    const b = Buffer.from('hello world, hello');
    const c = Buffer.alloc(8, 'ab');
    return [b.slice(0, 5).toString(), b.subarray(-5).toString(), b.indexOf('hello', 1), b.lastIndexOf('hello'), b.includes('wor'), b.indexOf(111),
      b.indexOf('zz'), b.equals(Buffer.from('hello world, hello')), Buffer.compare(b, c), Buffer.concat([b, c]).length, Buffer.concat([b, c], 3),
      c.fill('xyz', 1, 6).toString(), c.write('é!', 6), c.toString('hex'), b.copy(c, 2, 6, 11), c.toString(), Buffer.isBuffer(c),
      Buffer.isBuffer(new Uint8Array(1)), Buffer.isEncoding('hex'), Buffer.isEncoding('nope'), b.toString('utf8', 6, 11), c.swap16().toString(),
      b.slice(1, 3) instanceof Buffer, b.map((x) => x + 1) instanceof Buffer, JSON.stringify(b.slice(0, 2)), c.compare(b), Buffer.alloc(3).toString('hex')]`,
  'Buffer shares memory in slice': `const b = Buffer.from('abc'); b.slice(1)[0] = 88; return b.toString()`,
  'Buffer numbers': `
    const b = Buffer.alloc(32);
    return [b.writeUInt8(255, 0), b.writeInt16BE(-2, 1), b.writeUInt32LE(4000000000, 3), b.writeDoubleBE(1.5, 7), b.writeFloatLE(-2.25, 15),
      b.writeUIntBE(0x123456, 19, 3), b.writeIntLE(-5, 22, 6), String(b.writeBigInt64LE(-7n, 24 - 0)), b.toString('hex'),
      b.readUInt8(0), b.readInt16BE(1), b.readUInt32LE(3), b.readDoubleBE(7), b.readFloatLE(15), b.readUIntBE(19, 3), b.readUint16LE(3),
      String(b.readBigInt64LE(24)), String(b.readBigUInt64BE(24))]`,
  'Buffer errors': `
    const tries = [() => Buffer.from('x', 'nope'), () => Buffer.alloc(1).readUInt16LE(0), () => Buffer.alloc(1).writeUInt8(256, 0), () => Buffer.from(5)];
    return tries.map((f) => { try { f(); return 'none' } catch (e) { return [e.name, e.code] } })`,
  'atob and btoa': `
    const tries = ['YQ==', 'YQ', ' Y Q ', 'Y', 'Y*'].map((t) => { try { return atob(t) } catch (e) { return e.name } });
    return [tries, btoa('\\u00ff a'), (() => { try { return btoa('\\u0100') } catch (e) { return e.name } })()]`,
  'text coding': `
    const d = new TextDecoder();
    const parts = [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac]), { stream: true }), d.decode()];
    const fatal = (() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })();
    return [[...new TextEncoder().encode('é€😀\\ud800')], parts, fatal, new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])),
      new TextDecoder('utf-16le').decode(new Uint8Array([65, 0, 0x3d, 0xd8, 0, 0xde])), new TextDecoder('UTF8').encoding,
      new TextEncoder().encodeInto('aé😀', new Uint8Array(4))]`,
  'hashes and HMACs': `
    const { createHash, createHmac } = require('crypto');
    return [createHash('sha256').update('a').update(Buffer.from('b')).digest('hex'), createHash('md5').update('é', 'latin1').digest('base64'),
      createHash('sha512').digest('base64url'), createHmac('sha256', 'key').update('x').digest('hex'), createHmac('sha1', Buffer.from([0, 255])).digest().toString('hex')]`,
  'crypto errors': `
    const c = require('node:crypto');
    const tries = [() => c.createHash('nope'), () => c.timingSafeEqual(Buffer.from('a'), Buffer.from('ab')), () => c.createCipheriv('aes-256-gcm', 'short', 'iv'),
      () => { const h = c.createHash('md5'); h.digest(); h.digest() }, () => c.createHash('md5').update(1)];
    return tries.map((f) => { try { f(); return 'none' } catch (e) { return [e.name, e.code] } })`,
  ciphers: `
    const { createCipheriv, createDecipheriv } = require('crypto');
    const key = Buffer.alloc(32, 1); const iv = Buffer.alloc(12, 2);
    const gcm = createCipheriv('aes-256-gcm', key, iv); gcm.setAAD(Buffer.from('aad'));
    const sealed = gcm.update('secret text', 'utf8', 'base64') + gcm.final('base64'); const tag = gcm.getAuthTag();
    const open = (t) => { const d = createDecipheriv('aes-256-gcm', key, iv); d.setAAD(Buffer.from('aad')); d.setAuthTag(t); return d.update(sealed, 'base64', 'utf8') + d.final('utf8') };
    const wrong = (() => { try { return open(Buffer.alloc(16)) } catch (e) { return e.message } })();
    const cbc = createCipheriv('aes-128-cbc', key.subarray(0, 16), Buffer.alloc(16)); const cbcText = Buffer.concat([cbc.update('0123456789abcdefXYZ'), cbc.final()]).toString('hex');
    const back = createDecipheriv('aes-128-cbc', key.subarray(0, 16), Buffer.alloc(16));
    return [sealed, tag.toString('hex'), open(tag), wrong, cbcText, Buffer.concat([back.update(cbcText, 'hex'), back.final()]).toString()]`,
  'Triple DES, as card schemes sign with it': `
    const { createCipheriv, createDecipheriv, createHmac } = require('crypto');
    const key = Buffer.from('sq7HjrUOBfKmC576ILgskD5srU870gJ7sq7HjrUOBfI=', 'base64').subarray(0, 24); const zeros = Buffer.alloc(8);
    const order = createCipheriv('des-ede3-cbc', key, zeros); order.setAutoPadding(false);
    const derived = Buffer.concat([order.update('1446068581\\0\\0\\0\\0\\0\\0', 'utf8'), order.final()]);
    const signature = createHmac('sha256', derived).update('eyJ9').digest('base64');
    const both = ['des-ede3-cbc', 'DES-EDE3-CBC', 'des3', 'des-ede3-ecb', 'des-ede3'].map((name) => { const iv = /cbc|des3$/i.test(name) ? zeros : null;
      const seal = createCipheriv(name, key, iv); const sealed = seal.update('short text', 'utf8', 'hex') + seal.final('hex');
      const open = createDecipheriv(name, key, iv); return [sealed, open.update(sealed, 'hex', 'utf8') + open.final('utf8')] });
    const tries = [() => createCipheriv('des-ede3-cbc', key.subarray(0, 16), zeros), () => createCipheriv('des-ede3-cbc', key, Buffer.alloc(16)), () => createCipheriv('des-ede3-cbc', key, null),
      () => createCipheriv('des-ede3-ecb', key), () => { const c = createCipheriv('des-ede3-cbc', key, zeros); c.setAutoPadding(false); c.update('odd'); c.final() },
      () => createCipheriv('des-ede3-cbc', key, zeros).getAuthTag()].map((f) => { try { f(); return 'none' } catch (e) { return [e.name, e.code] } });
    return [signature, both, tries]`,
  timingSafeEqual: `const c = require('crypto'); return [c.timingSafeEqual(Buffer.from('a'), Buffer.from('a')), c.timingSafeEqual(Buffer.from('a'), Buffer.from('b'))]`,
  'subtle.digest': `return Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('x'))).toString('hex')`,
  randoms: `
    const c = require('crypto'); const u = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    return [u.test(crypto.randomUUID()), u.test(c.randomUUID()), c.randomBytes(16).length, crypto.getRandomValues(new Uint32Array(4)).length,
      c.randomBytes(8).equals(c.randomBytes(8)), c.randomInt(5) < 5]`,
  URL: `
    const u = new URL('../p?a=1&b=2#h', 'https://user:pw@EXAMPLE.com:8443/x/y/z'); const before = u.href;
    u.searchParams.append('c', 'd e&f'); u.searchParams.delete('a'); u.hash = 'new'; u.port = ''; u.pathname = '/é';
    const v = new URL('http://a/?x=1'); v.search = '?y=2';
    return [before, u.href, String(u), JSON.stringify(u), u.origin, u.username, u.host, u.search, v.searchParams.get('y'), v.searchParams.get('x'),
      (() => { try { new URL('nope') } catch (e) { return [e.name, e.code, e.message] } })()]`,
  URLSearchParams: `
    const p = new URLSearchParams('?a=1&a=2&b=%20+x'); p.set('a', '3'); p.append('z', 'é'); p.sort();
    return [p.toString(), [...p], p.getAll('a'), p.has('b'), p.get('none'), [...new URLSearchParams({ q: 1 }).keys()], new URLSearchParams([['x', 'y']]).toString(), p.size]`,
  'legacy url': `
    const url = require('url'); const p = url.parse('https://u:p@h.com:1/p/a?x=1&x=2#f', true);
    return [p.host, p.pathname, p.query.x, p.auth, url.parse('/a?b').query, url.format({ protocol: 'http', host: 'a.b', pathname: '/c', query: { d: 1 } }), url.resolve('http://a/b/c', '../d'), typeof url.URL]`,
  querystring: `
    const q = require('querystring');
    return [q.parse('a=1&b=2&a=3&c=%20'), q.stringify({ a: [1, 2], b: 'é', c: '' }), q.stringify({ a: 1, b: 2 }, ';', ':'), q.parse('a:1;b:2', ';', ':'), q.escape('a b&'), q.unescape('%41')]`,
  path: `
    const p = require('path');
    return [p.join('/a', '..', 'b', 'c.txt'), p.basename('/x/y.html', '.html'), p.extname('a.b.c'), p.dirname('/a/b'), p.normalize('/a//b/../c'), p.resolve('/a', 'b'),
      p.relative('/a/b', '/a/c'), p.parse('/d/f.txt'), p.format({ dir: '/d', base: 'f' }), p.isAbsolute('a'), p.sep, p.posix.join('a', 'b')]`,
  events: `
    const EventEmitter = require('events'); const { once } = EventEmitter; const log = [];
    class Own extends EventEmitter {} const e = new Own();
    e.on('a', (x) => log.push(['on', x])); e.once('a', (x) => log.push(['once', x])); e.prependListener('a', () => log.push('first'));
    e.emit('a', 1); e.emit('a', 2); setTimeout(() => e.emit('b', 3, 4)); const values = await once(e, 'b');
    const thrown = (() => { try { e.emit('error', 'x') } catch (error) { return [error.message, error.code] } })();
    function Old() { EventEmitter.call(this) } require('util').inherits(Old, EventEmitter); const o = new Old(); o.on('z', () => log.push('old')); o.emit('z');
    return [log, values, thrown, e.listenerCount('a'), e.eventNames(), e.emit('none'), e instanceof EventEmitter.EventEmitter, e.off('a', () => {}) === e]`,
  util: `
    const util = require('util'); const failing = util.promisify((x, done) => done(new Error(x)));
    return [util.format('%s %d %i %j %O %% %s', 'a', 1.5, '7.9', { a: 1 }, [1]), util.format('a', 'b', { c: 1 }), util.format(1, 2), await util.promisify((x, done) => done(null, x + 1))(1),
      await failing('no').catch((e) => e.message), util.isDeepStrictEqual({ a: [1, new Date(5)] }, { a: [1, new Date(5)] }), util.isDeepStrictEqual([1], ['1']),
      util.types.isDate(new Date()), util.types.isPromise(Promise.resolve()), util.types.isRegExp(1)]`,
  inspect: `
    const { inspect } = require('util'); const circle = { a: 1 };
    class Point { constructor() { this.x = 1 } }
    return [{ a: 'b', c: [1, 'two', null, undefined], d: { e: { f: { g: 1 } } } }, 'it\\'s', [], {}, new Map([['k', { v: 1 }]]), new Set([1]), () => 1, function named() {}, class K {}, new Point(),
      Object.create(null), /x/g, new Date(0), Symbol('s'), 1n, -0, Buffer.from('hi'), { 'a-b': 1, get g() { return 1 } }, [[[[1]]]], new Uint8Array([1, 2])].map((value) => inspect(value))`,
  assert: `
    const assert = require('assert');
    const tries = [() => assert(true), () => assert(0, 'zero'), () => assert.equal(1, '1'), () => assert.strictEqual(1, '1'), () => assert.deepStrictEqual({ a: [1] }, { a: [1] }),
      () => assert.deepEqual([1], ['1']), () => assert.notStrictEqual(1, 1), () => assert.throws(() => { throw new TypeError('x') }, TypeError), () => assert.throws(() => {}),
      () => assert.throws(() => { throw new Error('abc') }, /abc/), () => assert.throws(() => { throw new Error('abc') }, { message: 'abd' }), () => assert.match('abc', /b/), () => assert.strict.equal(1, '1'), () => assert.fail('m'), () => assert.ok(null)];
    return [tries.map((f) => { try { f(); return 'holds' } catch (e) { return [e.name, e.code] } }), await assert.rejects(Promise.reject(new Error('r')), /r/).then(() => 'rejected')]`,
  'AbortController and AbortSignal': `
    const log = []; const c = new AbortController(); const { signal } = c; let count = 0;
    signal.addEventListener('abort', (event) => log.push([event.type, event.target === signal]), { once: true });
    signal.onabort = () => log.push('onabort'); signal.addEventListener('abort', { handleEvent: () => log.push('object') });
    const removed = () => log.push('never'); signal.addEventListener('abort', removed); signal.removeEventListener('abort', removed);
    const any = AbortSignal.any([signal, new AbortController().signal]);
    const before = [signal.aborted, signal.reason]; c.abort(); c.abort('again');
    const thrown = (() => { try { signal.throwIfAborted() } catch (e) { return [e.name, e.message, e.code, e instanceof DOMException] } })();
    const late = AbortSignal.timeout(5); await new Promise((resolve) => late.addEventListener('abort', resolve));
    return [before, log, thrown, any.aborted, any.reason === signal.reason, AbortSignal.abort('why').reason, late.reason.name, late.reason.code,
      (() => { try { new AbortSignal() } catch (e) { return [e.name, e.code] } })(), signal instanceof EventTarget]`,
  EventTarget: `
    const t = new EventTarget(); const log = []; const f = (e) => log.push(e.type); t.addEventListener('a', f); t.addEventListener('a', f);
    t.addEventListener('b', (e) => { e.preventDefault(); e.stopImmediatePropagation() }); t.addEventListener('b', () => log.push('never'));
    const c = new AbortController(); t.addEventListener('c', f, { signal: c.signal }); c.abort();
    return [t.dispatchEvent(new Event('a')), t.dispatchEvent(new Event('b', { cancelable: true })), t.dispatchEvent(new Event('c')), log, new DOMException('m').code]`,
  string_decoder: `
    const { StringDecoder } = require('string_decoder'); const bytes = Buffer.from('aé€😀z\u0000ÿ');
    const split = (encoding, data, size) => { const d = new StringDecoder(encoding); const parts = [];
      for (let i = 0; i < data.length; i += size) parts.push(d.write(data.subarray(i, i + size))); return [d.encoding, parts.join(''), d.end(), d.end(bytes.subarray(0, 5))] };
    return ['utf8', 'UTF-8', undefined, 'utf16le', 'ucs2', 'base64', 'base64url', 'hex', 'latin1', 'binary', 'ascii'].flatMap((encoding) =>
      [1, 2, 3, 5].map((size) => split(encoding, encoding && /16|ucs/.test(encoding) ? Buffer.from('aé😀z', 'utf16le') : bytes, size))).concat(
      ['ff41', 'e282', 'f0908d41', 'eda080'].map((hex) => split('utf8', Buffer.from(hex, 'hex'), 1)), [(() => { try { new StringDecoder('nope') } catch (e) { return [e.name, e.code] } })()])`,
  'performance.now': `
    const a = performance.now(); for (let i = 0; i < 1e5; i += 1); const b = performance.now();
    return [typeof a, b >= a, Math.abs(performance.timeOrigin + b - Date.now()) < 1000]`,
  'Readable and Writable': `
    const { Readable, Writable } = require('stream'); const log = [];
    const r = new Readable({ highWaterMark: 4, read() { log.push('read'); this.push(log.length < 3 ? 'abc' : null) } });
    const w = new Writable({ highWaterMark: 5, write(chunk, encoding, done) { log.push([chunk.toString(), encoding]); setTimeout(done, 1) }, final(done) { log.push('final'); done() } });
    r.pipe(w); await new Promise((resolve) => w.on('finish', resolve));
    const chunks = []; for await (const chunk of Readable.from(['x', { y: 1 }, 3])) chunks.push(chunk);
    const own = class extends Writable { _write(c, e, done) { done(new Error('no')) } }; const failing = new own();
    const error = await new Promise((resolve) => { failing.on('error', resolve); failing.write('z') });
    const text = new Readable({ encoding: 'utf8', read() {} }); text.push(Buffer.from([0xe2, 0x82])); text.push(Buffer.from([0xac])); text.push(null);
    let decoded = ''; for await (const part of text) decoded += part;
    return [log, chunks, error.message, failing.destroyed, w.writableFinished, r.readableEnded, w.writableHighWaterMark, decoded, w.write.length,
      (() => { try { new Writable().write(null) } catch (e) { return [e.name, e.code] } })()]`,
  'Transform and pipeline': `
    const { Readable, Transform, PassThrough, Duplex, pipeline, finished } = require('node:stream'); const promises = require('stream/promises');
    const upper = () => new Transform({ transform(chunk, _, done) { done(null, chunk.toString().toUpperCase()) }, flush(done) { this.push('!'); done() } });
    const out = []; await promises.pipeline(Readable.from(['a', 'b']), upper(), async function* (source) { for await (const c of source) yield c + '.' }, async (source) => { for await (const c of source) out.push(String(c)) });
    const failed = await promises.pipeline(Readable.from(['a']), new Transform({ transform(c, e, done) { done(new TypeError('bad')) } }), new PassThrough()).catch((e) => [e.name, e.message]);
    const byCallback = await new Promise((resolve) => pipeline(Readable.from(['q']), new PassThrough(), (error) => resolve(error ?? 'done')).resume());
    const c = new AbortController(); const aborted = promises.pipeline(new Readable({ read() {} }), new PassThrough(), { signal: c.signal }).catch((e) => [e.name, e.code]); c.abort();
    const early = new PassThrough(); const ended = promises.finished(early).catch((e) => e.code); early.destroy();
    const objects = new Transform({ objectMode: true, transform(o, _, done) { done(null, { n: o.n + 1 }) } }); objects.end({ n: 1 }); const seen = []; for await (const o of objects) seen.push(o);
    const p = new PassThrough(); p.once('data', () => {}); const listeners = p.listenerCount('data'); p.off('data', () => {}); p.removeAllListeners('data');
    return [out.join('').replaceAll('.', ''), failed, byCallback, await aborted, await ended, seen, listeners, p.listenerCount('data'), new Duplex() instanceof Readable, typeof finished, require('stream') === require('stream').Stream,
      require('stream').promises === promises]`,
  structuredClone: `
    const o = { d: new Date(5), m: new Map([[1, { a: 1 }]]), s: new Set([1]), r: /x/gi, b: new Uint8Array([1, 2]), n: null, l: [1, , 3] }; o.self = o;
    const c = structuredClone(o);
    return [c.self === c, c !== o, c.d.getTime(), [...c.m], [...c.s], String(c.r), [...c.b], c.l.length, (() => { try { structuredClone(() => 1) } catch (e) { return e.name } })(), structuredClone(new TypeError('t')).name]`,
};

test.each(Object.entries(statements))('%s', async (_, code) => {
  const expected = await inNode(code);
  expect(expected).toBeDefined();
  expect(await pool.evaluate(code)).toEqual(expected);
});

test('the version is one of Node.js 16, as libraries ask for it', async () => {
  expect(await pool.evaluate('return [process.version, process.versions.node]')).toEqual(['v16.20.2', '16.20.2']);
});

test('an error of a listener ends the run, as an uncaught one ends Node.js', async () => {
  const code = `module.exports = async () => { const c = new AbortController();
    c.signal.addEventListener('abort', () => { throw new Error('from the listener') }); c.abort(); await null; return {} }`;
  expect((await pool.failure(code)).detail).toContain('Error: from the listener');
});

test('uuid', async () => {
  const code = `const { v3, v4, v5, v7, validate, version, NIL, parse, stringify } = require('uuid');
    return [v5('hello', v5.DNS), v3('hello', v3.URL), validate(v4()), version(v4()), version(v7()), validate('x'), version(NIL), stringify(parse(NIL)) === NIL]`;
  // RFC 9562 appendix A names no such values: these were made with Python's uuid module.
  expect(await pool.evaluate(code)).toEqual([
    '9342d47a-1bab-5709-9869-c840b2eac501',
    expect.any(String),
    true,
    4,
    7,
    false,
    0,
    true,
  ]);
});

test.each([
  'fs',
  'node:fs',
  'child_process',
  'http',
  'net',
  'vm',
  'worker_threads',
  'os',
  'axios',
  './local',
  '../guest/host.js',
  'node:uuid',
  'node:svc-errors',
  '__proto__',
  'constructor',
])("require('%s') finds no module", async (name) => {
  expect((await pool.failure(`require(${JSON.stringify(name)})`)).detail).toContain(`Cannot find module '${name}'`);
});

test('a module is the same object each time, with and without node:', async () => {
  expect(
    await pool.evaluate(
      "return [require('util') === require('node:util'), require('buffer').Buffer === Buffer, require('url').URL === URL]",
    ),
  ).toEqual([true, true, true]);
});
