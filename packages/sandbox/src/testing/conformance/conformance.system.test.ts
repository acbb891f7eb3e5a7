import { createRequire } from 'node:module';
import { openTestPool } from '../test-pool.ts';
import {
  compressions,
  derivations,
  digests,
  encodedBytes,
  encodedTexts,
  encryptions,
  forms,
  macs,
  queries,
  urlChanges,
  urlInputs,
} from './cases.ts';

const pool = openTestPool({
  limits: { cpuMs: 30_000, heapBytes: 256 * 2 ** 20, outputBytes: 20 * 2 ** 20 },
});
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const require = createRequire(import.meta.url);

/** The parts of a URL that has them all; its error otherwise. */
const showUrl = `const show = (make) => { try { const u = make();
    return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, [...u.searchParams], JSON.stringify(u)] }
  catch (error) { return [error.name, error.code] } };`;
const bytes = 'const bytes = (n, from = 0) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7 + from) % 256));';

/** The cases, and the statements that answer each. Every answer must be Node's own. */
const areas: [name: string, cases: readonly unknown[], setUp: string, answer: string][] = [
  ['URLs parsed', urlInputs, showUrl, 'show(() => new URL(one[0], one[1] ?? undefined))'],
  ['URLs that can be parsed', urlInputs, '', 'URL.canParse(one[0], one[1] ?? undefined)'],
  ['parts of URLs set', urlChanges, showUrl, 'show(() => { const u = new URL(one[0]); u[one[1]] = one[2]; return u })'],
  [
    'text to bytes',
    encodedTexts,
    '',
    "[Buffer.from(one[0], one[1]).toString('hex'), Buffer.byteLength(one[0], one[1])]",
  ],
  [
    'bytes to text',
    encodedBytes,
    '',
    '[Buffer.from(one[0]).toString(one[1]), Buffer.from(one[0]).toString(one[1], 1, 5)]',
  ],
  [
    'queries as parameters',
    queries,
    '',
    "(() => { const p = new URLSearchParams(one); const all = [[...p], p.toString()]; p.append('x', one); p.sort(); return [...all, p.toString(), p.size] })()",
  ],
  [
    'queries parsed',
    queries,
    "const q = require('querystring');",
    "[Object.entries(q.parse(one)), Object.entries(q.parse(one, ';', ':')), q.escape(one.toWellFormed()), q.unescape(one)]",
  ],
  ['objects to queries', forms, "const q = require('querystring');", "[q.stringify(one), q.stringify(one, ';', ':')]"],
  [
    'hashes',
    digests,
    `const { createHash } = require('crypto'); ${bytes}`,
    "['hex', 'base64', 'base64url', 'latin1'].map((e) => createHash(one[0]).update(bytes(one[1])).digest(e))",
  ],
  [
    'HMACs',
    macs,
    `const { createHmac } = require('crypto'); ${bytes}`,
    "createHmac(one[0], bytes(one[1][0], 9)).update(bytes(one[1][1])).digest('hex')",
  ],
  [
    'texts encrypted and decrypted',
    encryptions,
    `const { createCipheriv, createDecipheriv } = require('crypto'); ${bytes}
     const run = (name, size, aadSize) => { const gcm = /gcm/i.test(name); const key = bytes(Number(name.split('-')[1]) / 8, 1); const iv = bytes(gcm ? 12 : 16, 2);
       const c = createCipheriv(name, key, iv); if (gcm && aadSize) c.setAAD(bytes(aadSize, 3));
       const sealed = Buffer.concat([c.update(bytes(size).subarray(0, 5)), c.update(bytes(size).subarray(5)), c.final()]); const tag = gcm ? c.getAuthTag() : Buffer.alloc(0);
       const d = createDecipheriv(name, key, iv); if (gcm) { d.setAuthTag(tag); if (aadSize) d.setAAD(bytes(aadSize, 3)) }
       return [sealed.toString('hex'), tag.toString('hex'), Buffer.concat([d.update(sealed), d.final()]).equals(bytes(size))] };`,
    'run(one[0], one[1][0], one[1][1])',
  ],
];

areas.push(
  [
    'compressed and restored',
    compressions,
    `const z = require('zlib'); ${bytes} const made = { zeros: (n) => Buffer.alloc(n), bytes, text: (n) => Buffer.from('{"name":"Ann","n":123},'.repeat(n / 20)) };`,
    `(() => { const [pack, unpack, kind, size, options] = one; const packed = z[pack](made[kind](size), options);
      return [packed.length, require('crypto').createHash('md5').update(packed).digest('hex'), z[unpack](packed, { ...options, params: undefined }).equals(made[kind](size)), z[unpack](Buffer.concat([packed, Buffer.from('rest')])).length] })()`,
  ],
  [
    'restored from what is no compression',
    [
      '',
      '00',
      '1f8b',
      '78da',
      '1f8b0800000000000003',
      'ffff',
      '789c030000000001',
      '1f8b080000000000000303000000000000000000',
    ],
    "const z = require('zlib');",
    "['inflateSync', 'gunzipSync', 'unzipSync', 'inflateRawSync', 'brotliDecompressSync'].map((f) => { try { return z[f](Buffer.from(one, 'hex')).toString('hex') } catch (e) { return [e.name, e.code, e.message] } })",
  ],
  [
    'keys by PBKDF2',
    derivations,
    "const c = require('crypto');",
    "c.pbkdf2Sync('password', Buffer.from('salt'), one[0], one[1], one[2]).toString('hex')",
  ],
  [
    'keys by scrypt',
    [
      [32, {}],
      [64, { N: 2048 }],
      [16, { cost: 1024, blockSize: 4, parallelization: 3 }],
      [0, { N: 16 }],
      [32, { N: 15 }],
      [32, { N: 2 ** 20 }],
      [32, { N: 1024, maxmem: 1000 }],
      [-1, {}],
    ],
    "const c = require('crypto');",
    "c.scryptSync('password', 'salt', one[0], one[1]).toString('base64')",
  ],
);

async function answersOf(cases: readonly unknown[], setUp: string, answer: string): Promise<[unknown[], unknown[]]> {
  const statements = `${setUp} return cases.map((one) => { try { return ${answer} } catch (error) { return [error.name, error.code] } })`;
  const inNode: unknown[] = JSON.parse(
    JSON.stringify(new Function('require', 'cases', statements)(require, structuredClone(cases))),
  );
  const code = `module.exports = async ({ args: { body: cases } }) => ({ body: (() => { ${statements} })() })`;
  const inSandbox = await pool.body(code, { argsJson: JSON.stringify({ body: cases }), once: true });
  return [inNode, inSandbox as unknown[]];
}

test.each(areas.map(([name, cases, ...rest]) => [name, cases.length, cases, ...rest] as const))(
  '%s: %i cases',
  async (name, _, cases, setUp, answer) => {
    const [inNode, inSandbox] = await answersOf(cases, setUp, answer);
    expect(inNode).toHaveLength(cases.length);
    const different = cases.flatMap((one, index) =>
      JSON.stringify(inNode[index]) === JSON.stringify(inSandbox[index])
        ? []
        : [{ one, node: inNode[index], sandbox: inSandbox[index] }],
    );
    expect({ name, different: different.length, examples: different.slice(0, 5) }).toEqual({
      name,
      different: 0,
      examples: [],
    });
  },
);

test('a case that differs is noticed', async () => {
  const answer = "typeof WebAssembly === 'undefined' ? 1 : 2";
  const [inNode, inSandbox] = await answersOf(['x'], '', answer);
  expect([inNode, inSandbox]).toEqual([[2], [1]]);
});

/** Published values: FIPS 180-4, RFC 4231, and the GCM specification's test case 4. */
test.each([
  [
    "createHash('sha256').update('abc').digest('hex')",
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ],
  ["createHash('sha1').update('abc').digest('hex')", 'a9993e364706816aba3e25717850c26c9cd0d89d'],
  [
    "createHmac('sha256', Buffer.alloc(20, 0x0b)).update('Hi There').digest('hex')",
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    "createHmac('sha256', 'Jefe').update('what do ya want for nothing?').digest('hex')",
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    "createHmac('sha256', Buffer.alloc(131, 0xaa)).update('Test Using Larger Than Block-Size Key - Hash Key First').digest('hex')",
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    `(() => { const c = createCipheriv('aes-128-gcm', Buffer.from('feffe9928665731c6d6a8f9467308308', 'hex'), Buffer.from('cafebabefacedbaddecaf888', 'hex'));
      c.setAAD(Buffer.from('feedfacedeadbeeffeedfacedeadbeefabaddad2', 'hex'));
      c.update(Buffer.from('d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39', 'hex')); c.final();
      return c.getAuthTag().toString('hex') })()`,
    '5bc94fbc3221a5db94fae95ae7121a47',
  ],
])('published: %s', async (expression, expected) => {
  expect(
    await pool.evaluate(`const { createHash, createHmac, createCipheriv } = require('crypto'); return ${expression}`),
  ).toBe(expected);
});
