// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are programs
/** Programs that keep built-ins busy; many built-ins never look at an interrupt. */
export const againstBuiltIns: Record<string, string> = {
  'sparse array to text': 'return new Array(1e9) + ""',
  'join of a sparse array': 'new Array(2 ** 31).join("x")',
  'fill of a length that is a lie': 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)',
  'search in a length that is a lie': 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'search backwards in a length that is a lie': 'Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'reversal of a length that is a lie': 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })',
  'copy within a length that is a lie': 'Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0)',
  'removal from a length that is a lie': 'Array.prototype.shift.call({ length: 2 ** 53 - 1 })',
  'sort of a length that is a lie': 'Array.prototype.sort.call({ length: 2 ** 53 - 1 })',
  'raw text of a length that is a lie': 'String.raw({ raw: { length: 2 ** 53 - 1 } })',
  'JSON of a length that is a lie':
    'return { body: new Proxy([], { get: (_, k) => (k === "length" ? 2 ** 53 - 1 : 1) }) }',
  'random order': 'const a = Array.from({ length: 1e5 }, Math.random); for (;;) a.sort(() => Math.random() - 0.5)',
  'search of a long text in a long text': 'const s = "a".repeat(3e6); for (;;) s.indexOf("a".repeat(1e6) + "b")',
  'comparison of long texts': 'const s = "é".repeat(5e5); for (;;) s.localeCompare(s.normalize("NFD"))',
  'case of long texts': 'const s = "ß".repeat(1e6); for (;;) s.toUpperCase()',
  'escapes of long texts': 'const s = "%".repeat(1e6); for (;;) decodeURIComponent(encodeURIComponent(s))',
  'prototypes that never end':
    'const p = new Proxy({}, { getPrototypeOf: () => p }); Object.prototype.isPrototypeOf(p)',
  'instance of a proxy without end': 'const p = new Proxy({}, { getPrototypeOf: () => p }); p instanceof Array',
  'keys of a proxy without end': 'Object.keys(new Proxy({}, { ownKeys() { for (;;); } }))',
  'large source': 'eval("1+".repeat(3e6) + "1")',
  'function with many parameters': 'new Function(Array.from({ length: 1e5 }, (_, i) => `p${i}`).join(), "")',
  'regex with large counts': 'new RegExp("(?:(?:a{1000}){1000}){1000}").test("a".repeat(1e5))',
  'regex with many groups': 'for (;;) new RegExp("(a)".repeat(250)).exec("a".repeat(250))',
  'digits of a BigInt': 'for (;;) (7n ** 100000n).toString()',
  'JSON text of many members': 'for (;;) JSON.parse(`[${"1,".repeat(1e5)}1]`)',
  'dates without end': 'for (;;) new Date("2000-01-01T00:00:00Z").toISOString()',
  'hashes without end':
    'const { createHash } = require("crypto"); for (;;) createHash("sha512").update("x".repeat(1e6)).digest()',
  'HMACs without end':
    'const { createHmac } = require("crypto"); for (;;) createHmac("sha256", "k").update("x".repeat(1e5)).digest()',
  'ciphers without end':
    'const { createCipheriv } = require("crypto"); for (;;) createCipheriv("aes-256-gcm", Buffer.alloc(32), Buffer.alloc(12))',
  'PBKDF2 with a billion rounds': 'require("crypto").pbkdf2Sync("p", "s", 1e9, 64, "sha512")',
  'PBKDF2 without end': 'for (;;) require("crypto").pbkdf2Sync("p", "s", 1e3, 64, "sha512")',
  'scrypt with a gigabyte': 'require("crypto").scryptSync("p", "s", 64, { N: 2 ** 20, maxmem: 2 ** 31 })',
  'scrypt with many lanes': 'require("crypto").scryptSync("p", "s", 64, { N: 1024, p: 2 ** 14, maxmem: 2 ** 31 })',
  'a bomb in gzip':
    'const z = require("zlib"); let b = z.gzipSync(Buffer.alloc(1e6)); for (;;) { z.gunzipSync(b); b = Buffer.concat([b, b]) }',
  'compression without end':
    'const b = Buffer.alloc(2e5, "abcab"); for (;;) require("zlib").deflateSync(b, { level: 9 })',
  'a window of Brotli that is too large':
    'require("zlib").brotliCompressSync("x", { params: { [require("zlib").constants.BROTLI_PARAM_LGWIN]: 24 } })',
  'a preset of memory for output': 'for (;;) require("zlib").gzipSync("x", { chunkSize: 2 ** 30 })',
  'formatters without end':
    'for (let i = 0; ; i += 1) new Intl.DateTimeFormat("ar-EG", { timeZone: "UTC", numberingSystem: ["latn", "arab"][i % 2], month: ["long", "short"][i % 3 % 2] }).formatRange(i, 1e12 + i)',
  'numbers of many digits as text': 'for (let n = 10n; ; n *= n) n.toLocaleString("de")',
  'comparison of texts in a locale without end':
    'const a = Array.from({ length: 1e5 }, (_, i) => "x" + (i * 7919) % 1e5); for (;;) a.sort((x, y) => y.localeCompare(x, "sv"))',
  'comparison of marks in another order':
    'for (;;) ("a" + "\\u0301\\u0316".repeat(32000)).localeCompare("a" + "\\u0316\\u0301".repeat(32000))',
  'name of a locale with many variants':
    'new Intl.DisplayNames("en", { type: "language" }).of("en" + Array.from({ length: 32000 }, (_, i) => "-" + (10000 + i)).join(""))',
  'dates in every calendar':
    'for (const a of "abcdefghijklmnopqrstuvwxyz") for (const c of ["coptic", "hebrew", "indian"]) new Intl.DateTimeFormat(`${a}a-u-ca-${c}`)',
  'listeners that make listeners':
    'const t = new EventTarget(); const f = () => { t.addEventListener("a", () => f()); t.dispatchEvent(new Event("a")) }; f()',
  'text in pieces without end':
    'const d = new (require("string_decoder").StringDecoder)("utf8"); const b = Buffer.alloc(1e5, "é"); for (;;) d.write(b)',
  'random bytes without end': 'for (;;) require("crypto").randomBytes(2 ** 20)',
  'large randomBytes': 'require("crypto").randomBytes(2 ** 30)',
  'random numbers of an impossible range': 'require("crypto").randomInt(0, 2 ** 60)',
  'URLs without end': 'for (;;) new URL(`http://a/?${"x".repeat(1e5)}`)',
  'parameters without end': 'const p = new URLSearchParams(); for (;;) p.append("a".repeat(1e3), "b")',
  'query of many fields':
    'for (;;) require("querystring").parse("a&".repeat(1e6), undefined, undefined, { maxKeys: 0 })',
  'paths without end': 'for (;;) require("path").normalize("a/../".repeat(1e5))',
  'text decoding without end': 'const b = Buffer.alloc(1e6, "é"); for (;;) new TextDecoder().decode(b)',
  'base64 without end': 'for (;;) btoa("x".repeat(1e6))',
  'data that is too long for the host': 'require("crypto").createHash("md5").update("x".repeat(3e7)).digest()',
  'recursion through the host': 'const f = () => { Buffer.from("x"); new URL("http://a/" + "b"); f() }; f()',
};
