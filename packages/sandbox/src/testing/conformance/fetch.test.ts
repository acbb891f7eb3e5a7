import { useStack } from '@sluice/testing';
import { sendAsItIs, startFetchingServer } from '../fetching-server.ts';
import { openTestPool } from '../test-pool.ts';

const pool = openTestPool();
beforeAll(() => pool.ready());
afterAll(() => pool.close());
const server = useStack(startFetchingServer);

/** Bodies of async functions with `base`, the URL of a server. Each must return the same with our `fetch` as with Node's. */
const cases: Record<string, string> = {
  'Headers from an object': "return [...new Headers({ 'X-B': ' two ', a: 1, 'Set-Cookie': 'c' })]",
  'Headers from pairs, several of a name': "return [...new Headers([['b', 1], ['A', 2], ['B', 3]])]",
  'Headers from Headers':
    "const h = new Headers({ a: 'b' }); const c = new Headers(h); c.set('a', 'c'); return [h.get('a'), c.get('a')]",
  'Headers from a Map': "return [...new Headers(new Map([['x', 'y']]))]",
  'cookies of Headers':
    "const h = new Headers(); h.append('set-cookie', 'a'); h.append('Set-Cookie', 'b'); return [[...h], h.getSetCookie(), h.get('set-cookie')]",
  'Headers changed':
    "const h = new Headers({ a: 'b', c: 'd' }); h.append('A', 'x'); h.delete('C'); h.set('e', 'f'); return [[...h], h.has('a'), h.get('c'), h.get('E')]",
  'a header set that came several times':
    "const h = new Headers([['a', '1'], ['b', '2'], ['a', '3']]); h.set('a', 'x'); return [...h]",
  'parts of Headers':
    "const h = new Headers({ b: '1', a: '2' }); const seen = []; h.forEach((v, n) => seen.push([n, v])); return [[...h.keys()], [...h.values()], seen, String(h)]",
  'no init of Headers': 'return [[...new Headers()], [...new Headers(undefined)]]',
  'null as init of Headers': 'new Headers(null)',
  'text as init of Headers': "new Headers('a')",
  'a pair of three': "new Headers([['a', 'b', 'c']])",
  'a pair of one': "new Headers([['a']])",
  'a name with a blank': "new Headers({ 'a b': 'c' })",
  'an empty name': "new Headers({ '': 'c' })",
  'a name beyond ASCII': "new Headers({ 'ü': 'c' })",
  'a value with a line break': "new Headers({ a: 'b\\r\\nc: d' })",
  'a value with NUL': "new Headers({ a: 'b\\0' })",
  'a value beyond Latin-1': "new Headers({ a: '😀' })",
  'a value in Latin-1': "return new Headers({ a: 'ü' }).get('a')",
  'a value that ends with line breaks': "return new Headers({ a: '\\r\\n b \\r\\n' }).get('a')",
  'a name asked for that is none': "new Headers().get('a b')",

  'a Request':
    "const r = new Request('http://a.example/b?c#d', { method: 'post', body: 'x' }); return [r.url, r.method, [...r.headers], r.bodyUsed, r.redirect, r.signal.aborted, await r.text(), r.bodyUsed]",
  'a Request of a URL': "return new Request(new URL('http://a.example')).url",
  methods:
    "return ['get', 'Put', 'patch', 'dElete', 'x-own', 'head', 'options'].map((method) => new Request('http://a.example', { method }).method)",
  'a method that is forbidden': "new Request('http://a.example', { method: 'CONNECT' })",
  TRACE: "new Request('http://a.example', { method: 'trace' })",
  'a method that is no token': "new Request('http://a.example', { method: 'a b' })",
  'a GET with a body': "new Request('http://a.example', { body: 'x' })",
  'a HEAD with a body': "new Request('http://a.example', { method: 'HEAD', body: '' })",
  'a GET with null as body': "return new Request('http://a.example', { body: null }).method",
  'a URL without a base': "new Request('/path')",
  'a URL with a user': "new Request('http://user:pass@a.example')",
  'a signal that is none': "new Request('http://a.example', { signal: {} })",
  'a redirect that is none': "new Request('http://a.example', { redirect: 'maybe' })",
  'the type of text': "return [...new Request('http://a.example', { method: 'POST', body: 'x' }).headers]",
  'the type of parameters':
    "const r = new Request('http://a.example', { method: 'POST', body: new URLSearchParams({ a: 'b c' }) }); return [[...r.headers], await r.text()]",
  'the type of bytes':
    "const r = new Request('http://a.example', { method: 'POST', body: new Uint8Array([1, 2]) }); return [[...r.headers], [...new Uint8Array(await r.arrayBuffer())]]",
  'an object as body': "return new Request('http://a.example', { method: 'POST', body: { a: 1 } }).text()",
  'a number as body': "return new Request('http://a.example', { method: 'POST', body: 12 }).text()",
  'a type that is set stays':
    "return [...new Request('http://a.example', { method: 'POST', body: 'x', headers: { 'Content-Type': 'a/b' } }).headers]",
  'a Request of a Request':
    "const a = new Request('http://a.example', { method: 'POST', body: 'x', headers: { a: 'b' } }); const b = new Request(a, { headers: { c: 'd' } }); return [b.method, [...b.headers], await b.text(), a.bodyUsed]",
  'a Request of a Request that was read':
    "const a = new Request('http://a.example', { method: 'POST', body: 'x' }); await a.text(); new Request(a)",
  'a Request cloned':
    "const a = new Request('http://a.example', { method: 'POST', body: 'x' }); const b = a.clone(); return [await a.text(), await b.text()]",
  'a Request cloned after it was read':
    "const a = new Request('http://a.example', { method: 'POST', body: 'x' }); await a.text(); a.clone()",
  'a Request aborted':
    "const c = new AbortController(); const r = new Request('http://a.example', { signal: c.signal }); c.abort('why'); return [r.signal.aborted, r.signal.reason]",

  'a Response':
    "const r = new Response('x', { status: 201, statusText: 'Made', headers: { a: 'b' } }); return [r.status, r.statusText, r.ok, r.type, r.url, r.redirected, [...r.headers], await r.text(), r.bodyUsed]",
  'a Response without anything':
    'const r = new Response(); return [r.status, r.ok, [...r.headers], await r.text(), r.bodyUsed]',
  'a Response read twice': "const r = new Response('x'); await r.text(); await r.text()",
  'a Response without a body read twice': 'const r = new Response(); return [await r.text(), await r.text()]',
  'JSON of a Response': `return new Response('{"a":[1]}').json()`,
  'JSON that is none': "await new Response('{').json()",
  'JSON of nothing': 'await new Response().json()',
  'bytes of a Response':
    "return [[...new Uint8Array(await new Response('ü').arrayBuffer())], [...await new Response('ü').bytes()]]",
  'text of bytes': 'return new Response(new Uint8Array([0xe2, 0x82, 0xac, 0xff])).text()',
  'a byte order mark': "return [await new Response('\\ufeffa').text(), [...await new Response('\\ufeffa').bytes()]]",
  'half a character': "return [await new Response('\\ud800a').text()]",
  'statuses that none is':
    'return [199, 600, 1.5, "x"].map((status) => { try { return new Response(null, { status }).status } catch (error) { return error.name } })',
  'a status that has no body': "new Response('x', { status: 204 })",
  'a reason that is none': "new Response('', { statusText: 'a\\nb' })",
  'Response.json':
    'const r = Response.json({ a: 1 }, { status: 202 }); return [r.status, [...r.headers], await r.text()]',
  'Response.json of nothing': 'Response.json(undefined)',
  'Response.error': 'const r = Response.error(); return [r.status, r.type, r.ok]',
  'Response.redirect': "const r = Response.redirect('http://a.example/b', 307); return [r.status, [...r.headers]]",
  'Response.redirect of another status': "Response.redirect('http://a.example/b', 200)",
  'a Response cloned':
    "const r = new Response('x', { status: 202, headers: { a: 'b' } }); const c = r.clone(); return [await r.text(), await c.text(), c.status, [...c.headers]]",
  'classes by name':
    'return [String(new Headers()), String(new Request("http://a.example")), String(new Response()), typeof fetch, fetch.name]',

  'a GET':
    "const r = await fetch(base + '/echo?a=b#c'); return [r.status, r.ok, r.statusText, r.url.slice(base.length), r.type, r.redirected, r.headers.get('content-type'), await r.json()]",
  'a POST of text':
    "return (await fetch(base + '/echo', { method: 'POST', body: 'gr\u00fc\u00df', headers: { 'X-Own': 'a' } })).json()",
  'a POST of a form':
    "return (await fetch(base + '/echo', { method: 'POST', body: new URLSearchParams({ a: '\u00fc' }) })).json()",
  'a PUT of bytes':
    "return (await fetch(base + '/echo', { method: 'put', body: new Uint8Array([0, 255, 128]) })).json()",
  'a POST of a part of a buffer':
    "return (await fetch(base + '/echo', { method: 'POST', body: new Uint8Array([1, 2, 3, 4]).subarray(1, 3) })).json()",
  'a DELETE without a body': "return (await fetch(base + '/echo', { method: 'DELETE' })).json()",
  'a Request that is sent': "return (await fetch(new Request(base + '/echo', { method: 'POST', body: 'x' }))).json()",
  'a Request that is sent with changes':
    "return (await fetch(new Request(base + '/echo', { method: 'POST', body: 'x' }), { method: 'PUT', headers: { 'x-a': 'b' } })).json()",
  'a Request that is sent twice':
    "const r = new Request(base + '/echo', { method: 'POST', body: 'x' }); await fetch(r); await fetch(r)",
  'a HEAD': "const r = await fetch(base + '/echo', { method: 'HEAD' }); return [r.status, await r.text()]",
  'bytes of an answer': "return [...new Uint8Array(await (await fetch(base + '/bytes')).arrayBuffer())]",
  'text of bytes that are none': "return (await fetch(base + '/broken-text')).text()",
  'an answer with a byte order mark':
    "const r = await fetch(base + '/marked'); const c = r.clone(); return [await r.text(), [...await c.bytes()]]",
  'headers of an answer':
    "const r = await fetch(base + '/headers'); return [r.status, r.statusText, r.headers.get('x-two'), r.headers.getSetCookie(), r.headers.get('X-LATIN')]",
  'headers of an answer cannot be changed': "(await fetch(base + '/headers')).headers.set('a', 'b')",
  'a redirect that is not followed':
    "const r = await fetch(base + '/redirect', { redirect: 'manual' }); return [r.status, r.headers.get('location'), r.redirected, await r.text()]",
  'a redirect that is an error': "await fetch(base + '/redirect', { redirect: 'error' })",
  'an answer without a body': "const r = await fetch(base + '/none'); return [r.status, await r.text()]",
  'an answer that is not modified': "const r = await fetch(base + '/not-modified'); return [r.status, await r.text()]",
  'statuses of errors':
    "const a = await fetch(base + '/missing'); const b = await fetch(base + '/fault'); return [a.status, a.ok, await a.text(), b.status, b.ok]",
  'JSON that breaks off': "await (await fetch(base + '/fault')).json()",
  'an answer that is cut off':
    "const r = await fetch(base + '/cut'); try { await r.text() } catch (error) { return [r.status, error.name, error.message] }",
  'an answer read twice': "const r = await fetch(base + '/echo'); await r.text(); await r.text()",
  'an answer cloned':
    "const r = await fetch(base + '/headers'); const c = r.clone(); return [await c.text(), await r.text(), c.status, c.statusText, c.headers.get('x-two')]",
  'a port that is closed':
    "try { await fetch('http://127.0.0.1:1/') } catch (error) { return [error.name, error.message, error.cause instanceof Error] }",
  'a scheme that is unknown': "await fetch('ftp://a.example/')",
  'a URL that is none': "await fetch('http://')",
  'several at once':
    "return Promise.all([1, 2, 3].map(async (n) => (await (await fetch(base + '/echo?' + n)).json())[1]))",

  'aborted before': "await fetch(base + '/echo', { signal: AbortSignal.abort() })",
  'aborted before, for a reason':
    "try { await fetch(base + '/echo', { signal: AbortSignal.abort('why') }) } catch (error) { return error }",
  'aborted while it is sent':
    "const c = new AbortController(); const p = fetch(base + '/never', { signal: c.signal }); c.abort(); await p",
  'aborted while the answer is awaited':
    "const c = new AbortController(); setTimeout(() => c.abort(), 20); await fetch(base + '/never', { signal: c.signal })",
  'aborted after its time': "await fetch(base + '/never', { signal: AbortSignal.timeout(20) })",
  'aborted while the body is read':
    "const c = new AbortController(); const r = await fetch(base + '/silent', { signal: c.signal }); setTimeout(() => c.abort(), 20); await r.text()",
  'aborted before the body is read':
    "const c = new AbortController(); const r = await fetch(base + '/silent', { signal: c.signal }); c.abort(); await r.text()",
  'aborted after all was read':
    "const c = new AbortController(); const r = await fetch(base + '/echo', { signal: c.signal }); const t = await r.json(); c.abort(); return t[0]",
  'aborted by one of two':
    "const c = new AbortController(); const p = fetch(base + '/never', { signal: AbortSignal.any([c.signal, new AbortController().signal]) }); c.abort(new RangeError('mine')); await p",
  'a race with a timer':
    "return Promise.race([fetch(base + '/never').then(() => 'answer'), new Promise((resolve) => setTimeout(resolve, 20, 'timer'))])",
  'a listener of the signal':
    "const c = new AbortController(); const seen = []; c.signal.addEventListener('abort', () => seen.push('heard')); const p = fetch(base + '/never', { signal: c.signal }).catch((error) => seen.push(error.name)); c.abort(); await p; return seen",
};

const wrapped = (statements: string) => `try { return { answer: await (async () => { ${statements} })() ?? null } }
  catch (error) { return { error: [error.name, error.code ?? null] } }`;

async function inBoth(statements: string): Promise<[node: unknown, sandbox: unknown]> {
  const { url: base } = server.current;
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (base: string) => Promise<unknown>;
  const inNode = JSON.parse(JSON.stringify(await new AsyncFunction('base', wrapped(statements))(base)));
  const code = `module.exports = async ({ args: base }) => ({ body: await (async () => { ${wrapped(statements)} })() })`;
  const task = { kind: 'reactor', argsJson: JSON.stringify(base), fetch: sendAsItIs } as const;
  const inSandbox = (await pool.body(code, task)) as { body: unknown };
  return [inNode, inSandbox.body];
}

test.each(Object.entries(cases))('%s', async (_, statements) => {
  const [inNode, inSandbox] = await inBoth(statements);
  expect(inSandbox).toEqual(inNode);
});

test('a case that differs is noticed', async () => {
  expect(await inBoth('return typeof FormData')).toEqual([{ answer: 'function' }, { answer: 'undefined' }]);
});
