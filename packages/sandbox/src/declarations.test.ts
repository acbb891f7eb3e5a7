import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slow } from '@sluice/testing';
import ts from 'typescript';
import { reactorDeclarations, transformDeclarations } from './index.ts';
import { openTestPool } from './testing/test-pool.ts';

const options: ts.CompilerOptions = {
  allowJs: true,
  checkJs: true,
  strict: true,
  noEmit: true,
  skipDefaultLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.CommonJS,
  ignoreDeprecations: '6.0',
  types: [],
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declarations-'));
  for (const url of reactorDeclarations) await copyFile(url, join(folder, basename(url.pathname)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What `tsc` says of files beside the declarations: name, line and message. */
async function check(files: Record<string, string>, declarations = transformDeclarations): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const declared = declarations.map((url) => join(folder, basename(fileURLToPath(url))));
  const program = ts.createProgram([...declared, ...Object.keys(files).map((name) => join(folder, name))], options);
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
    return `${basename(file?.fileName ?? '')}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const request = `/** @type {RequestTransform} */
module.exports = async ({ args, configuration, svc }) => {
  const { BadRequestError, CustomHttpResponseError } = require('svc-errors');
  const { createHmac } = require('node:crypto');
  const { v4 } = require('uuid');
  if (!args.body.amount) throw new BadRequestError('no amount', { amount: ['is missing'] });
  if (args.method === 'HEAD') throw new CustomHttpResponseError({ status: 204, headers: { 'x-a': ['1', 2] } });
  const token = svc ? await svc.tokenize(args.body.card) : v4();
  const signature = createHmac('sha256', configuration.SECRET ?? '').update(JSON.stringify(args.body)).digest('hex');
  console.log(new URL('http://a/' + args.path).href, Buffer.from(args.query).toString('base64'), btoa('x'));
  setTimeout(() => {}, 5);
  const { gunzipSync, gzipSync } = require('zlib');
  const { pbkdf2Sync, createSign } = require('crypto');
  const key = pbkdf2Sync('p', Buffer.from('s'), 10, 32, 'sha256').toString('hex');
  if (configuration.KEY) createSign('sha256').update(key).sign({ key: configuration.KEY, padding: 1 }, 'base64');
  const { createPublicKey, publicEncrypt, verify } = require('crypto');
  if (configuration.PUBLIC) verify(null, 'x', createPublicKey(configuration.PUBLIC), publicEncrypt({ key: configuration.PUBLIC, oaepHash: 'sha256' }, 'y'));
  console.log(process.hrtime.bigint(), require('timers/promises'));
  const { PassThrough } = require('node:stream');
  const { signal } = new AbortController();
  if (!signal.aborted && performance.now() >= 0) new PassThrough().end(gunzipSync(gzipSync('x', { level: 9 })));
  const { StringDecoder } = require('string_decoder');
  console.log(new StringDecoder('utf8').write(Buffer.from('x')), process.version);
  console.log(new Intl.NumberFormat('de-DE').format(5), new Date(0).toLocaleDateString('fr-FR', { timeZone: 'UTC' }));
  return { body: { ...args.body, token }, headers: { ...args.headers, 'x-signature': signature, 'x-gone': null } };
};
`;
const response = `/** @type {ResponseTransform} */
exports.default = async (req) => {
  const { rows } = await (req.svc?.detokenize({ rows: req.args.body.rows }) ?? req.args.body);
  return { body: rows, headers: { 'x-count': rows.length } };
};
`;

slow('1.4 s')('transforms check without a complaint, and run', async () => {
  expect(await check({ 'request.js': request, 'response.js': response })).toEqual([]);
  const pool = openTestPool();
  await pool.ready();
  const argsJson = JSON.stringify({ body: { amount: 1, card: 'x' }, headers: {}, method: 'POST', path: '', query: '' });
  expect(await pool.body(request, { argsJson, host: async () => '"token"' })).toEqual({
    amount: 1,
    card: 'x',
    token: 'token',
  });
  expect(await pool.body(response, { argsJson: '{"body":{"rows":[1]}}', kind: 'response' })).toEqual([1]);
  await pool.close();
});

test.each([
  ['a member that is not there', 'return { body: req.argz }', "'argz' does not exist"],
  ['a method in a response', 'return { body: req.args.method }', "'method' does not exist"],
  ['the client without asking for it', 'return { body: await req.svc.tokenize(1) }', "possibly 'undefined'"],
  ['no result', 'req.args.body = 1', 'must return a value'],
  ['a header that is no text', 'return { headers: { a: {} } }', 'not assignable to type'],
  ['a result of another form', 'return { bodie: 1 }', "'bodie' does not exist"],
  ['a module that is not there', "require('fs'); return {}", "Cannot find name 'fs'"],
  ['a global that is not there', "await fetch('http://a'); return {}", "Cannot find name 'fetch'"],
  ['configuration of another type', 'const n = req.configuration.A * 2; return { body: n }', 'arithmetic'],
])('%s is a complaint', async (_, statements, complaint) => {
  const code = `/** @type {ResponseTransform} */\nmodule.exports = async (req) => {\n ${statements} }\n`;
  const complaints = await check({ 'wrong.js': code });
  expect(complaints.join('\n')).toMatch(new RegExp(complaint));
});

const reactor = `/** @type {Reactor<{ URL: string, RATE: number }>} */
module.exports = async ({ args, configuration, svc }) => {
  const { BadRequestError } = require('svc-errors');
  if (!args.number) throw new BadRequestError('no number');
  const headers = new Headers({ 'x-count': 1, ...args.headers });
  headers.append('content-type', 'application/json');
  const body = JSON.stringify(args);
  const signal = AbortSignal.timeout(5000);
  const request = new Request(new URL('/bins', configuration.URL), { method: 'POST', headers, body, signal });
  const response = await fetch(request, { redirect: 'error' });
  const last = await fetch(configuration.URL, { method: 'PUT', body: new URLSearchParams({ a: 'b' }) });
  if (!response.ok) return { body: { status: response.status, reason: response.statusText } };
  const { brand } = await response.json();
  const bytes = Buffer.from(await last.arrayBuffer()).toString('hex');
  const token = svc ? (await svc.tokens.create({ data: brand })).id : undefined;
  return { raw: { fee: args.amount * configuration.RATE, brand, bytes, token }, headers: [...response.headers], tokenize: args };
};
`;

slow('0.4 s')('a reactor checks without a complaint, and runs', async () => {
  expect(await check({ 'reactor.js': reactor }, reactorDeclarations)).toEqual([]);
  const pool = openTestPool();
  await pool.ready();
  const argsJson = JSON.stringify({ number: '4242', amount: 100 });
  const configuration = async () => JSON.stringify({ URL: 'https://bins.example', RATE: 2 });
  const answer = { status: 200, statusText: 'OK', headers: [['x-a', 'b']] as [string, string][] };
  const fetch = async () => ({ ...answer, body: async () => Buffer.from('{"brand":"visa"}') });
  const raw = { fee: 200, brand: 'visa', bytes: Buffer.from('{"brand":"visa"}').toString('hex') };
  expect(await pool.body(reactor, { kind: 'reactor', argsJson, configuration, fetch })).toEqual({
    raw,
    headers: [['x-a', 'b']],
  });
  await pool.close();
});

test.each([
  ['a member that is not there', 'return { raw: req.argz }', "'argz' does not exist"],
  ['the client without asking for it', 'return { raw: await req.svc.tokenize(1) }', "possibly 'undefined'"],
  ['no result', 'req.args.body = 1', 'must return a value'],
  ['a result of another form', 'return { result: 1 }', "'result' does not exist"],
  ['a redirect that there is not', "await fetch('http://a', { redirect: 'never' }); return {}", 'not assignable'],
  [
    'a body of another kind',
    "await fetch('http://a', { body: { a: 1 } }); return {}",
    'not assignable|may only specify',
  ],
  ['a body as a stream', "return { raw: (await fetch('http://a')).body }", "'body' does not exist"],
  ['configuration of any type', 'return { raw: req.configuration.A * 2 }', 'arithmetic'],
])('%s is a complaint in a reactor', async (_, statements, complaint) => {
  const code = `/** @type {Reactor} */\nmodule.exports = async (req) => {\n ${statements} }\n`;
  const complaints = await check({ 'wrong-reactor.js': code }, reactorDeclarations);
  expect(complaints.join('\n')).toMatch(new RegExp(complaint));
});
