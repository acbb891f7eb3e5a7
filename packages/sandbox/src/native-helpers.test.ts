import { generateKeyPairSync } from 'node:crypto';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { slow } from '@sluice/testing';
import { openTestPool } from './testing/test-pool.ts';

const limits = { cpuMs: 400, heapBytes: 48 * 2 ** 20 };
const pool = openTestPool({ limits });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

/** 64 MiB of one byte, in 64 KiB. */
const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20)).toString('base64');
/** It makes the compressor look at every earlier place again and again. */
const slowToCompress = `const b = Buffer.alloc(1 << 19); for (let i = 0, x = 1; i < b.length; i += 3) { x = (x * 48271) % 2147483647; b[i] = b[i + 1] = 65; b[i + 2] = x & 3 }`;
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
}).privateKey;
const ed25519 = generateKeyPairSync('ed25519', { privateKeyEncoding: { type: 'pkcs8', format: 'pem' } }).privateKey;

/** What would use more than the run may, by the limit that ends it. */
test.each([
  ['a billion rounds of PBKDF2', "require('crypto').pbkdf2Sync('p', 's', 1e9, 32, 'sha512')", 'cpuMs'],
  ['PBKDF2 for a long key', "require('crypto').pbkdf2Sync('p', 's', 1e4, 2 ** 20, 'sha1')", 'cpuMs'],
  [
    'scrypt with 2^20 blocks',
    "require('crypto').scryptSync('p', 's', 32, { N: 2 ** 20, maxmem: 2 ** 31 })",
    'heapBytes',
  ],
  [
    'scrypt with many lanes',
    "require('crypto').scryptSync('p', 's', 32, { N: 2 ** 10, r: 8, p: 2 ** 12, maxmem: 2 ** 31 })",
    'cpuMs',
  ],
  ['a zip bomb', `require('zlib').gunzipSync(Buffer.from('${bomb}', 'base64'))`, 'heapBytes'],
  [
    'a window of Brotli that needs more than the heap',
    "require('zlib').brotliCompressSync('x', { params: { [require('zlib').constants.BROTLI_PARAM_LGWIN]: 24 } })",
    'heapBytes',
  ],
])('%s is ended by a limit, and the thread goes on', async (_, statements, limit) => {
  const error = await pool.failure(`module.exports = () => { ${statements}; return { body: 'too far' } }`);
  expect(error.cause).toMatchObject({ name: 'TransformStopped', limit });
  expect(await pool.evaluate('return 1')).toBe(1);
  expect(pool.faults).toEqual([]);
});

test.each([
  ['PBKDF2', "require('crypto').pbkdf2Sync('p', 's', 1e9, 32, 'sha512')"],
  ['a zip bomb', `require('zlib').gunzipSync(Buffer.from('${bomb}', 'base64'))`],
])('%s ends the run also where its code catches the error', async (_, statements) => {
  const code = `module.exports = () => { for (;;) try { ${statements} } catch {} }`;
  expect((await pool.failure(code)).cause).toMatchObject({ name: 'TransformStopped' });
});

slow('0.4 s')('what native functions have used is counted before the next of them', async () => {
  const code = `module.exports = () => { for (;;) require('crypto').pbkdf2Sync('p', 's', 20000, 32, 'sha256') }`;
  expect((await pool.failure(code)).cause).toMatchObject({ name: 'TransformStopped', limit: 'cpuMs' });
});

slow('0.5 s')('compression of what is hard to compress is ended between two steps of it', async () => {
  const code = `module.exports = () => { ${slowToCompress} for (;;) require('zlib').deflateSync(b, { level: 9 }) }`;
  expect((await pool.failure(code)).cause).toMatchObject({ name: 'TransformStopped', limit: 'cpuMs' });
  expect(pool.faults).toEqual([]);
});

test('the same functions within the limits give their results', async () => {
  const code = `const c = require('crypto'); const z = require('zlib');
    return [c.pbkdf2Sync('p', 's', 2000, 32, 'sha512').length, c.scryptSync('p', 's', 32, { N: 1024 }).length, z.gunzipSync(z.gzipSync('x'.repeat(1e5))).length]`;
  expect(await pool.evaluate(code)).toEqual([32, 32, 100_000]);
});

test('output that code itself has bounded is refused as Node.js refuses it, and the run goes on', async () => {
  const code = `try { require('zlib').gunzipSync(Buffer.from('${bomb}', 'base64'), { maxOutputLength: 1000 }) } catch (error) { return [error.name, error.code] }`;
  expect(await pool.evaluate(code)).toEqual(['RangeError', 'ERR_BUFFER_TOO_LARGE']);
});

test.each([
  ['an encrypted key', encrypted, /Encrypted private keys are not supported/],
  ['a key with a passphrase', { key: privateKey, passphrase: 'x' }, /Encrypted private keys are not supported/],
  ['a key of a type that is not served', ed25519, /Keys of type ed25519 are not supported: use rsa, rsa-pss, ec/],
  ['a key that is very long', 'x'.repeat(20_000), /A key has at most 16384 characters/],
  ['what is no key', 'no key', /DECODER|unsupported|PEM/],
])('%s is refused with a reason', async (_, key, message) => {
  const code = `module.exports = ({ configuration: { key } }) => { require('crypto').createSign('sha256').update('x').sign(JSON.parse(key)) }`;
  const error = await pool.failure(code, { configuration: async () => JSON.stringify({ key: JSON.stringify(key) }) });
  expect(error.detail).toMatch(message);
});

test('a key of more bits than a signature may cost is refused', async () => {
  // The modulus of such a key cannot be made in a test; its form can: SEQUENCE of two INTEGERs (RFC 8017, A.1.1).
  const modulus = Buffer.concat([Buffer.from([0x02, 0x82, 0x04, 0x81, 0x00]), Buffer.alloc(0x480, 0xff)]);
  const sequence = Buffer.concat([modulus, Buffer.from([0x02, 0x01, 0x03])]);
  const der = Buffer.concat([Buffer.from([0x30, 0x82, sequence.length >> 8, sequence.length & 255]), sequence]);
  const key = `-----BEGIN RSA PUBLIC KEY-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END RSA PUBLIC KEY-----\n`;
  const code = `module.exports = ({ configuration: { key } }) => { require('crypto').createVerify('sha256').update('x').verify(key, Buffer.alloc(256)) }`;
  const error = await pool.failure(code, { configuration: async () => JSON.stringify({ key }) });
  expect(error.detail).toMatch(/A key has at most 8192 bits/);
});

test('an invalid compression is refused as Node.js refuses it, and so is none', async () => {
  const cut = deflateRawSync('x'.repeat(1000)).subarray(0, 5).toString('base64');
  const code = `const z = require('zlib'); return [() => z.inflateRawSync(Buffer.from('${cut}', 'base64')), () => z.gunzipSync('none'), () => z.deflateSync('x', { level: 99 }), () => z.gunzipSync(5)]
    .map((f) => { try { f(); return 'none' } catch (e) { return [e.name, e.code] } })`;
  expect(await pool.evaluate(code)).toEqual([
    ['Error', 'Z_BUF_ERROR'],
    ['Error', 'Z_DATA_ERROR'],
    ['RangeError', 'ERR_OUT_OF_RANGE'],
    ['TypeError', 'ERR_INVALID_ARG_TYPE'],
  ]);
});

test('a signature is one of the key: Node.js accepts it, and each refuses a changed one', async () => {
  const code = `const { createSign, createVerify } = require('crypto'); const { privateKey, publicKey } = req.configuration;
    const made = createSign('RSA-SHA256').update('a').update('b').sign(privateKey, 'base64');
    const holds = (data) => createVerify('RSA-SHA256').update(data).verify(publicKey, made, 'base64');
    return [made, holds('ab'), holds('ac'), createVerify('sha256').update('ab').verify({ key: Buffer.from(publicKey), padding: 6 }, made, 'base64')]`;
  const answer = await pool.evaluate(code, { configuration: async () => JSON.stringify({ privateKey, publicKey }) });
  const { createSign } = await import('node:crypto');
  expect(answer).toEqual([createSign('sha256').update('ab').sign(privateKey, 'base64'), true, false, false]);
});
