import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { addLeaf, leafHash, originOf, readFrontier, rootOf, signCheckpoint, verifierLine } from '@sluice/ledger';
import { run } from '../cli.ts';
import { Interrupted } from '../failure.ts';
import { keys, startService, type } from '../testing/test-command-line.ts';

const rows = Array.from({ length: 5 }, (_, i) => ({ id: `row-${i}`, operation: 'use' }));
let folder: string;
let answers: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verify-'));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const origin = originOf('sluice.example', randomUUID());
  let frontier = readFrontier(0, Buffer.alloc(0));
  const heads = rows.map((row) => {
    frontier = addLeaf(frontier, leafHash(row, 1));
    return { dropped: frontier.size, hashes: frontier.hashes.map((hash) => hash.toString('base64')) };
  });
  const lines = rows.map((row, leaf_index) =>
    JSON.stringify({ ...row, leaf_version: 1, leaf_index, leaf_hash: leafHash(row, 1).toString('hex') }),
  );
  const files = {
    export: lines.join('\n'),
    cut: [JSON.stringify(heads[3]), ...lines.slice(4)].join('\n'),
    changed: lines.join('\n').replace('"row-3"', '"other"'),
    key: verifierLine({ name: origin, publicKey }),
    checkpoint: signCheckpoint({ origin, size: rows.length, root: rootOf(frontier) }, privateKey),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const first = leafHash(rows[0] ?? {}, 1);
  const small = signCheckpoint({ origin, size: 1, root: first }, privateKey);
  const proof = { leaf_index: 0, tree_size: 1, leaf_hash: first.toString('hex'), hashes: [], checkpoint: small };
  answers = {
    '/logs/checkpoint': files.checkpoint,
    '/.well-known/sluice-ledger-key/tenant': files.key,
    '/logs/row-0/proof': JSON.stringify(proof),
  };
  await writeFile(join(folder, 'row'), lines[0] ?? '');
});
afterAll(() => rm(folder, { recursive: true }));

async function verify(file: string, options: Record<string, string>, isTTY = true) {
  const written = { out: '', error: '' };
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const stderr = new PassThrough();
  stdout.on('data', (chunk) => (written.out += chunk));
  stderr.on('data', (chunk) => (written.error += chunk));
  const given = Object.entries(options).flatMap(([name, value]) => [
    `--${name}`,
    name === 'dropped' ? value : join(folder, value),
  ]);
  const { signal } = new AbortController();
  const typed = ['logs', 'verify', join(folder, file), ...given];
  const code = await run(typed, { stdin: new PassThrough(), stdout, stderr, env: {}, signal });
  return { code, ...written };
}

const trusted = { key: 'key', checkpoint: 'checkpoint' };

test('a whole export verifies without a service; as JSON for programs', async () => {
  expect(await verify('export', trusted)).toEqual({ code: 0, out: 'Complete and unchanged up to 5\n', error: '' });
  const { code, out } = await verify('export', trusted, false);
  expect([code, JSON.parse(out)]).toEqual([0, { verified: true, message: 'Complete and unchanged up to 5' }]);
});

/** What the command gives to a pipe, as a file. */
async function keep(file: string, ...typed: string[]): Promise<string> {
  await using closing = new AsyncDisposableStack();
  const { url } = await startService(closing, (seen, _request, response) => void response.end(answers[seen.url]));
  const env = { SLUICE_URL: url, SLUICE_API_KEY: keys.management };
  const { code, out, error } = await type(['logs', ...typed], { env, isTerminal: false });
  expect([code, error]).toEqual([0, '']);
  await writeFile(join(folder, file), out);
  return file;
}

test('checkpoint, public keys and proofs verify as the commands that fetch them wrote them', async () => {
  const key = await keep('fetched key', 'public-key', 'tenant');
  const checkpoint = await keep('fetched checkpoint', 'checkpoint');
  expect((await verify('export', { key, checkpoint })).out).toBe('Complete and unchanged up to 5\n');
  const proofs = await keep('fetched proofs', 'proof', 'row-0');
  expect((await verify('row', { key, proofs })).out).toMatch(/^1 row is unchanged, as its proof shows/);
});

test('a changed row is named, and leaves with 1', async () => {
  const { code, out } = await verify('changed', trusted);
  expect([code, out]).toEqual([1, 'The first row that differs from its hash is row 3 (other)\n']);
});

test('a beginning that retention dropped verifies with a number that is given, where the checkpoint says none', async () => {
  const cut = { ...trusted, dropped: '4' };
  expect((await verify('cut', cut)).out).toMatch(/Only the first 4 rows are missing, dropped by retention\n$/);
  const without = await verify('cut', trusted);
  expect([without.code, without.out]).toEqual([1, expect.stringMatching(/does not say how many.*--dropped 4\n$/)]);
  const { code, error } = await verify('cut', { ...trusted, dropped: 'four' });
  expect([code, error]).toEqual([2, expect.stringContaining('--dropped must be a whole number')]);
});

test.each<[string, string, Record<string, string>, RegExp]>([
  ['no key', 'export', { checkpoint: 'checkpoint' }, /--key FILE is required/],
  ['neither checkpoint nor proofs', 'export', { key: 'key' }, /--checkpoint FILE is required/],
  ['a file that is not there', 'none', trusted, /none cannot be read: ENOENT/],
])('%s leaves with 2', async (_name, file, options, reason) => {
  const { code, error } = await verify(file, options);
  expect([code, error]).toEqual([2, expect.stringMatching(reason)]);
});

test('Ctrl-C while it reads leaves with 130, without a word', async () => {
  const stopping = new AbortController();
  const typed = [
    'logs',
    'verify',
    '/dev/zero',
    '--key',
    join(folder, 'key'),
    '--checkpoint',
    join(folder, 'checkpoint'),
  ];
  const stopped = type(typed, { signal: stopping.signal });
  setTimeout(() => stopping.abort(new Interrupted('SIGINT')), 100);
  expect(await stopped).toMatchObject({ code: 130, screen: '' });
});
