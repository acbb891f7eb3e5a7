import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool({ limits: { cpuMs: 2_000 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const require = createRequire(import.meta.url);
const pem = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
};
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048, ...pem } as never) as never as Keys;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256', ...pem } as never) as never as Keys;
const ed = generateKeyPairSync('ed25519', pem as never) as never as Keys;

interface Keys {
  publicKey: string;
  privateKey: string;
}

const prelude = `const keys = ${JSON.stringify({ rsa, ec, ed })}; const tried = (f) => { try { return f() } catch (e) { return [e.name, e.code] } };`;

/** The same statements in Node.js itself. */
async function inNode(statements: string): Promise<unknown> {
  const run = new Function('require', `return (async () => { ${prelude} ${statements} })()`);
  return JSON.parse(JSON.stringify(await run(require)));
}

/** Each must give in the sandbox what it gives in Node.js. */
const statements = {
  'Buffer without from': `
    return [new Buffer('abc').toString(), Buffer('x').toString('hex'), new Buffer([1, 2]), new Buffer('eHk=', 'base64').toString(), new Buffer(3), Buffer.from('a') instanceof Buffer,
      Buffer.name, Buffer.from('ab').constructor === Buffer, Buffer.from('ab').map((x) => x + 1) instanceof Buffer, new Buffer(new Uint8Array([65]).buffer).toString(),
      tried(() => new Buffer(1, 'utf8')), Buffer.of(1, 2), new (require('buffer').Buffer)('q').toString(), Object.prototype.toString.call(Buffer.alloc(1))]`,
  'events.once with a signal': `
    const { EventEmitter, once, on, errorMonitor } = require('events'); const c = new AbortController(); const e = new EventEmitter();
    const waiting = once(e, 'x', { signal: c.signal }).catch((error) => [error.name, error.code]); c.abort();
    const late = once(e, 'x', { signal: c.signal }).catch((error) => error.name);
    const t = new EventTarget(); const byTarget = once(t, 'go'); t.dispatchEvent(new Event('go'));
    const seen = []; e.on(errorMonitor, (error) => seen.push(error.message)); const caught = once(e, 'never').catch((error) => error.message); e.emit('error', new Error('bad'));
    setTimeout(() => { e.emit('n', 1); e.emit('n', 2, 3); e.emit('n', 4) }); const values = []; for await (const v of on(e, 'n')) { values.push(v); if (values.length === 3) break }
    return [await waiting, await late, (await byTarget)[0].type, await caught, seen, values, e.listenerCount('n'), e.listenerCount('x'), EventEmitter.listenerCount(e, 'n')]`,
  'options of querystring': `
    const q = require('querystring');
    return [q.parse('a=%41+b&c=%zz&a=2', null, null, { decodeURIComponent: (s) => s.toLowerCase() }), q.parse('a=1&b=2', '&', '=', { maxKeys: 1 }), q.stringify({ a: ['x y', 1], b: true, c: null }, null, null, { encodeURIComponent: (s) => '<' + s + '>' }),
      q.parse('a=1&b=2&c=3', '&', '=', { decodeURIComponent: (s) => s, maxKeys: 2 })]`,
  'timingSafeEqual of text': `const { timingSafeEqual } = require('crypto'); return tried(() => timingSafeEqual('a', 'a'))`,
  'the older form of inspect': `
    const { inspect, formatWithOptions } = require('util'); const deep = { a: { b: { c: { d: { e: 1 } } } } }; const long = Array.from({ length: 6 }, (_, i) => 'item number ' + i);
    return [inspect(deep, false, null), inspect(deep, false, 0), inspect(deep, true), inspect(long, { breakLength: Infinity }), inspect({ long, deep }, { depth: null, breakLength: Infinity }), formatWithOptions({ depth: 0 }, '%s', 'x', deep)].map((text) => text.replace(/\\s+/g, ' '))`,
  'crypto with callbacks': `
    const c = require('crypto'); const { promisify } = require('util');
    const n = await new Promise((resolve) => c.randomInt(5, (e, v) => resolve(v))); const m = await promisify(c.randomInt)(7, 8);
    return [n >= 0 && n < 5, m, (await promisify(c.pbkdf2)('p', 's', 10, 16, 'sha256')).toString('hex'), (await promisify(c.scrypt)('p', 's', 8, { N: 16 })).toString('hex'),
      Buffer.from(await promisify(c.hkdf)('sha256', 'key', 'salt', 'info', 42)).toString('hex'), (await promisify(c.randomFill)(Buffer.alloc(4))).length, tried(() => c.pbkdf2('p', 's', 1, 1, 'sha1'))]`,
  'parts of crypto': `
    const c = require('crypto'); const h = c.createHash('sha256').update('a'); const copy = h.copy().update('b'); const filled = c.randomFillSync(Buffer.alloc(32));
    return [h.digest('hex'), copy.digest('hex'), c.createHash('shake256', { outputLength: 5 }).update('x').digest('hex'), Buffer.from(c.hkdfSync('sha512', 'k', '', '', 64)).toString('hex'), filled.equals(Buffer.alloc(32)),
      c.getHashes().includes('sha256'), c.getCiphers().includes('aes-256-gcm'), c.randomFillSync(new Uint16Array(4), 3)[0], tried(() => h.copy()), tried(() => c.randomFillSync(Buffer.alloc(1), 2))]`,
  'keys and one-shot signatures': `
    const c = require('crypto'); const data = Buffer.from('data'); const details = (k) => [k.type, k.asymmetricKeyType, k.asymmetricKeyDetails?.modulusLength, k.asymmetricKeyDetails?.namedCurve, String(k.asymmetricKeyDetails?.publicExponent)];
    return Object.values(keys).map(({ publicKey, privateKey }) => {
      const [pub, priv] = [c.createPublicKey(publicKey), c.createPrivateKey({ key: privateKey })]; const algorithm = priv.asymmetricKeyType === 'ed25519' ? null : 'sha256';
      const signature = c.sign(algorithm, data, priv);
      return [details(pub), details(priv), c.verify(algorithm, data, pub, signature), c.verify(algorithm, Buffer.from('other'), publicKey, signature), pub.export({ type: 'spki', format: 'pem' }) === publicKey, pub.export({ format: 'jwk' }),
        priv.export({ type: 'pkcs8', format: 'der' }).toString('hex'), c.createPublicKey(priv).equals(pub), c.createPublicKey({ key: pub.export({ format: 'jwk' }), format: 'jwk' }).equals(pub),
        c.createPublicKey({ key: pub.export({ type: 'spki', format: 'der' }), format: 'der', type: 'spki' }).equals(pub), tried(() => priv.export())]
    }).concat([c.createSecretKey(Buffer.from('k')).export().toString(), c.createSecretKey('kk', 'utf8').symmetricKeySize, c.createHmac('sha256', c.createSecretKey(Buffer.from('k'))).update('x').digest('hex')])`,
  'encryption with RSA': `
    const c = require('crypto'); const { publicKey, privateKey } = keys.rsa;
    const options = { padding: c.constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256', oaepLabel: Buffer.from('l') };
    const sealed = c.publicEncrypt({ key: publicKey, ...options }, Buffer.from('4242')); const plain = c.publicEncrypt(publicKey, Buffer.from('default'));
    return [sealed.length, c.privateDecrypt({ key: privateKey, ...options }, sealed).toString(), c.privateDecrypt(privateKey, plain).toString(), c.privateDecrypt(c.createPrivateKey(privateKey), plain).toString(),
      tried(() => c.privateDecrypt({ key: privateKey, ...options, oaepHash: 'sha1' }, sealed))[0]]`,
  'zlib with callbacks and streams': `
    const z = require('zlib'); const { promisify } = require('util'); const { pipeline, Readable } = require('stream'); const packed = await promisify(z.gzip)('text');
    const chunks = []; for await (const c of Readable.from([packed.subarray(0, 5), packed.subarray(5)]).pipe(z.createGunzip())) chunks.push(c);
    return [(await promisify(z.gunzip)(packed)).toString(), await promisify(z.inflate)('nope').catch((e) => e.code), Buffer.concat(chunks).toString(), (await promisify(z.brotliDecompress)(await promisify(z.brotliCompress)('b', {}))).toString()]`,
  'more of util': `
    const u = require('util'); const e = new Error('m');
    return [u.stripVTControlCharacters('\\u001b[31mred\\u001b[0m'), u.toUSVString('a\\ud800'), typeof u.debuglog('x'), u.debuglog('x').enabled, u.types.isUint8Array(Buffer.alloc(1)), u.types.isFloat64Array([]), u.types.isBoxedPrimitive(Object(1)),
      u.types.isStringObject('x'), u.types.isDataView(new DataView(new ArrayBuffer(1))), u.types.isMapIterator(new Map().keys()), require('util/types') === u.types, await u.promisify(setTimeout)(1, 'late'), await u.promisify(setImmediate)('now')]`,
  'more of assert': `
    const assert = require('assert'); const strict = require('assert/strict');
    const tries = [() => assert.ifError(null), () => assert.ifError(new Error('x')), () => assert.doesNotThrow(() => {}), () => assert.doesNotThrow(() => { throw new Error('in') }, 'why'), () => strict.equal(1, '1'), () => strict.strict.equal(1, 1)];
    return [tries.map((f) => { try { f(); return 'holds' } catch (e) { return [e.name, e.code, e.message.split('\\n')[0].slice(0, 40)] } }).with(4, 0), await assert.doesNotReject(Promise.reject(new Error('r'))).catch((e) => e.code), strict === assert.strict]`,
  'more of url': `
    const u = require('url');
    return [u.fileURLToPath('file:///a/b%20c'), u.pathToFileURL('/x y').href, u.domainToASCII('español.com'), u.domainToUnicode('xn--espaol-zwa.com'), u.urlToHttpOptions(new URL('https://u:p%40@a.b:8443/p?q#h')), u.resolveObject('http://a/b', 'c').href, tried(() => u.fileURLToPath('http://a'))]`,
  'text of one byte a character': `
    return [...['latin1', 'iso-8859-1', 'windows-1251', 'koi8-r', 'iso-8859-15'].map((label) => { const d = new TextDecoder(label); return [d.encoding, d.decode(new Uint8Array([0x41, 0x80, 0xa4, 0xe9, 0xff]), { stream: true }) + d.decode(new Uint8Array([0xc0]))] }),
      tried(() => new TextDecoder('nope'))[0], tried(() => new TextDecoder('windows-1253', { fatal: true }).decode(new Uint8Array([0xaa])))[0]]`,
  timers: `
    const t = require('timers'); const p = require('timers/promises'); const log = [];
    await new Promise((done) => { const timer = setTimeout(() => { log.push('refreshed'); done() }, 300); setTimeout(() => { timer.refresh(); log.push('early'); setTimeout(() => log.push('between'), 200) }, 200) });
    const c = new AbortController(); const aborted = p.setTimeout(10, null, { signal: c.signal }).catch((e) => [e.name, e.code]); c.abort();
    let n = 0; for await (const v of p.setInterval(1, 'v')) { log.push(v); if ((n += 1) === 2) break }
    return [log, await aborted, await p.setImmediate('i'), typeof t.setTimeout, t.promises === p, await p.scheduler.wait(1)]`,
  process: `
    const process_ = require('process'); const [s, n] = process.hrtime(); const [ds, dn] = process.hrtime([s, n]); process.env.MINE = 'x';
    return [process_ === process, process.platform, process.env.MINE, ds >= 0 && dn >= 0, typeof process.hrtime.bigint(), process.uptime() >= 0, typeof process.on('exit', () => {}).once, process.argv.length > 0, require('perf_hooks').performance === performance]`,
  'errors with captureStackTrace': `
    class Own extends Error { constructor(m) { super(m); this.name = 'Own'; Error.captureStackTrace(this, Own) } }
    const o = {}; Error.captureStackTrace(o); const e = new Own('m');
    return [e instanceof Own, e.name, e.message, typeof e.stack, typeof o.stack, Object.keys(e), typeof Error.stackTraceLimit, /at new Own/.test(e.stack)]`,
};

test.each(Object.entries(statements))('%s', async (_, code) => {
  const expected = await inNode(code);
  expect(expected).toBeDefined();
  expect(await pool.evaluate(prelude + code)).toEqual(expected);
});

test('what Node.js 16 has and newer ones do not', async () => {
  const code = `const u = require('util');
    return [u.isString('x'), u.isObject({}), u.isFunction(1), u.isNullOrUndefined(null), u.isPrimitive(Symbol()), u.isBuffer(Buffer.alloc(0)), u.isError(new TypeError('x')), u.isUndefined(null)]`;
  expect(await pool.evaluate(code)).toEqual([true, true, false, true, true, true, true, false]);
});

test('the place of an error whose class captures its stack is where it was made', async () => {
  const code = `class Own extends Error { constructor(m) { super(m); Error.captureStackTrace(this, Own) } }
module.exports = () => {
  throw new Own('m');
}`;
  expect((await pool.failure(code)).detail).toContain('line 3');
});

test.each([
  ["require('crypto').generateKeyPairSync('rsa')", 'crypto.generateKeyPairSync is not available in transforms'],
  ['process.exit(1)', 'process.exit is not available in transforms'],
  ['process.memoryUsage()', 'process.memoryUsage is not available in transforms'],
  ["require('util').parseArgs()", 'util.parseArgs is not available in transforms'],
  ['performance.mark()', 'performance.mark is not available in transforms'],
])('%s says what is missing', async (code, message) => {
  expect((await pool.failure(`module.exports = () => { ${code} }`)).detail).toContain(message);
});

test.each([
  ['a passphrase', /without a passphrase/, "c.createPrivateKey({ key: keys.rsa.privateKey, passphrase: 'x' })"],
  [
    'an export with a cipher',
    /not supported/,
    "c.createPrivateKey(keys.rsa.privateKey).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })",
  ],
  ['a key beyond its bound', /at most/, "c.createPublicKey('x'.repeat(20000))"],
  ['too much to derive', /from 0 to/, "c.hkdfSync('sha256', 'k', '', '', 2 ** 21)"],
  ['too long a hash', /from 0 to/, "c.createHash('shake256', { outputLength: 2 ** 21 })"],
])('%s is refused', async (_, message, code) => {
  const tried = `const c = require('crypto'); try { ${code} } catch (e) { return e.message }`;
  expect(await pool.evaluate(prelude + tried)).toMatch(message);
});
