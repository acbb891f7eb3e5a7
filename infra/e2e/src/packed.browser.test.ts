import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTemporaryFolder, serveHttp, useStack } from '@sluice/testing';
import { openBrowser } from '@sluice/testing/browser';
import { sharePlatform } from './platform.ts';
import { run, runProgram } from './run-program.ts';

/** What the page does, with the key of a public Application: each answer or error, by what was asked for. */
const script = (baseUrl: string, apiKey: string) => `
import * as library from '/library/index.js';
const found = {};
const note = async (name, promise) => {
  try { found[name] = { answer: await promise ?? null }; }
  catch (error) {
    const { name: kind, status, code, traceId, message } = error;
    found[name] = { kind, isSluiceError: error instanceof library.SluiceError, status, code, traceId, message };
  }
};
try {
  const sluice = new library.Sluice({ baseUrl: '${baseUrl}', apiKey: '${apiKey}' });
  const body = { type: 'card', data: { number: '4242424242424242' } };
  await note('create', sluice.tokens.create(body, { idempotencyKey: 'of-the-page' }));
  await note('again', sluice.tokens.create(body, { idempotencyKey: 'of-the-page' }));
  await note('tokenize', sluice.tokenize({ name: 'Ada' }));
  await note('session', sluice.sessions.create());
  await note('proxies', sluice.proxies.list().page());
  await note('traced', sluice.tokens.create({ type: 'nonsense' }, { traceId: 'trace-of-the-page' }));
  await note('silent', new library.Sluice({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', retries: 0 }).proxies.get('p'));
  const session = new library.Sluice({ baseUrl: '${baseUrl}', apiKey: found.session.answer.session_key });
  await note('end', session.sessions.deleteSelf());
} catch (error) { found.failure = String(error); }
globalThis.result = { origin: location.origin, agent: navigator.userAgent, found };
`;

interface Found {
  origin: string;
  agent: string;
  found: Record<string, unknown>;
}

const world = useStack(async (closing) => {
  const folder = await openTemporaryFolder(closing, 'browser');
  await runProgram('infra/pack/src/main.ts', ['--to', folder], { env: process.env });
  const tarball = (await readdir(folder)).find((file) => file.startsWith('sluice-sdk'));
  await run('tar', ['-xzf', tarball ?? '', '-C', folder], { cwd: folder });
  const platform = await sharePlatform();
  const application = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  const { baseUrl } = platform.stack;
  const url = await serveHttp(closing, async ({ url: path = '' }, response) => {
    if (path.startsWith('/library/')) {
      const file = join(folder, 'package/dist/esm', path.slice('/library/'.length));
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(await readFile(file));
    } else {
      const text = script(baseUrl, application.key);
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${text}</script>`);
    }
  });
  const { openPage } = await openBrowser();
  const { page } = await openPage(closing);
  await page.goto(url);
  const result = await page.waitForFunction(() => (globalThis as unknown as { result?: Found }).result, undefined, {
    timeout: 600_000,
  });
  return { ...((await result.jsonValue()) as Found), baseUrl, platform };
});

test('the packed library runs in Chromium, on a page of another origin', () => {
  const { agent, origin, baseUrl, found } = world.current;
  expect(agent).toMatch(/Chrome\/\d+/);
  expect(origin).not.toBe(baseUrl);
  expect(found.failure).toBeUndefined();
});

test('a public key makes tokens and sessions', () => {
  const { found } = world.current;
  expect(found.create).toEqual({ answer: expect.objectContaining({ type: 'card', id: expect.any(String) }) });
  expect(found.tokenize).toEqual({ answer: { name: expect.stringMatching(/^[0-9a-f-]{36}$/) } });
  expect(found.session).toEqual({ answer: expect.objectContaining({ session_key: expect.any(String) }) });
});

test('the idempotency key passes the preflight: a creation that is sent again makes nothing', () => {
  const { found } = world.current;
  const idOf = (name: string) => (found[name] as { answer: { id: string } }).answer.id;
  expect(idOf('again')).toBe(idOf('create'));
});

test('a failure is an error of the library, with the trace id by which the log is searched', () => {
  const { found } = world.current;
  expect(found.traced).toMatchObject({ kind: 'ValidationError', status: 400, traceId: 'trace-of-the-page' });
  expect(found.silent).toMatchObject({ kind: 'ConnectionError', isSluiceError: true });
});

test('a page reaches nothing but the making of tokens and sessions', async () => {
  const { found, platform } = world.current;
  expect(JSON.stringify(found.proxies)).not.toContain('destination_url');
  // The browser is not told why: no preflight is answered there.
  for (const name of ['proxies', 'end']) expect(found[name]).toMatchObject({ kind: 'ConnectionError' });
  expect((await platform.manage('GET', '/proxies')).status).toBe(200);
});
