import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { openTemporaryFolder, programEnvironment } from '@sluice/testing';
import { keys, startService, type } from './test-command-line.ts';

const main = resolve(import.meta.dirname, '../main.ts');
export const sessionKey = `svc_local_ses_${'s'.repeat(49)}`;
const gitHub = { id: 'p', destination_url: 'https://github.com', path_name: 'github', accept_key_as: ['basic'] };
const pagination = { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 };

export const withoutKey = { status: 401, body: {}, headers: { 'www-authenticate': 'Basic realm="sluice"' } };

type Answer = NonNullable<ReturnType<Parameters<typeof startService>[1]>>;

/** An installation with one route, whose answers to some requests differ, and a profile for it. */
export async function startRuns(
  closing: AsyncDisposableStack,
  answers: Record<string, (headers: IncomingHttpHeaders) => Answer | undefined> = {},
) {
  const { seen, url } = await startService(closing, ({ method, url, headers }) => {
    const [path = ''] = url.split('?');
    const own = answers[`${method} ${path}`];
    if (own) return own(headers);
    if (path === '/permissions') return { status: 200, body: [] };
    if (path === '/proxies') return { status: 200, body: { pagination, data: [gitHub] } };
    if (path === '/sessions') return { status: 201, body: { id: 's', session_key: sessionKey, nonce: 'n' } };
    if (path === '/sessions/authorize') return { status: 200 };
    if (path === '/sessions/self') return { status: 204 };
    if (path.startsWith('/routes/') && headers.authorization === undefined) return withoutKey;
    return { status: 403, body: { title: 'No' } };
  });
  const home = await openTemporaryFolder(closing, 'run');
  const env = { XDG_CONFIG_HOME: home };
  const stdin = Object.values(keys).join('\n');
  expect((await type(['login', '--url', url], { env, stdin })).code).toBe(0);
  const start = (command: readonly string[], words: readonly string[] = [], more: object = {}) => {
    const typed = [main, 'run', '--routes', 'github', ...words, '--', ...command];
    const git = { GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' };
    const child = spawn(process.execPath, typed, {
      env: { ...programEnvironment(), ...env, HOME: home, ...git, ...more },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    closing.defer(() => void child.kill('SIGKILL'));
    return child;
  };
  const asked = (path: string) => seen.filter((one) => `${one.method} ${one.url}` === path);
  return { seen, asked, env, home, start };
}

export async function endOf(child: ReturnType<typeof spawn>) {
  const stderr = child.stderr ? text(child.stderr) : '';
  const [code, signal] = await once(child, 'exit');
  return { code, signal, stderr: await stderr };
}

/** What it has written to standard error until now. */
export function toldBy(child: ReturnType<typeof spawn>) {
  let told = '';
  child.stderr?.on('data', (chunk) => (told += chunk));
  return () => told;
}
