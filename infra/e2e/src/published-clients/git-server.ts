import { execFile, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openTemporaryFolder, programEnvironment, serveHttp } from '@sluice/testing';

/** Serves the repositories of a folder by git's own backend, as Apache runs it by CGI (RFC 3875). */
export function serveGit(served: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'http://x');
  const { headers } = request;
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...programEnvironment(),
      ...{ GIT_PROJECT_ROOT: served, GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'x', REMOTE_ADDR: '127.0.0.1' },
      ...{ PATH_INFO: pathname, QUERY_STRING: search.slice(1), REQUEST_METHOD: request.method ?? '' },
      CONTENT_TYPE: headers['content-type'] ?? '',
      ...(headers['content-length'] !== undefined && { CONTENT_LENGTH: headers['content-length'] }),
      ...(headers['content-encoding'] !== undefined && { HTTP_CONTENT_ENCODING: headers['content-encoding'] }),
      ...(headers['git-protocol'] !== undefined && { GIT_PROTOCOL: String(headers['git-protocol']) }),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(backend.stdin);
  backend.stdin.on('error', () => request.unpipe());
  let head = Buffer.alloc(0);
  backend.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const fields = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200';
    response.writeHead(Number.parseInt(status, 10), fields.filter(([name]) => name !== 'Status').flat());
    response.write(head.subarray(end + 4));
  });
  backend.stdout.on('end', () => response.end());
}

const run = promisify(execFile);

/** Without the settings and the passwords of whoever runs the tests. */
export async function runGit(args: readonly string[], cwd: string): Promise<string> {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  const env = {
    ...programEnvironment(),
    ...{ HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', NO_PROXY: '*', no_proxy: '*' },
  };
  return (await run('git', [...identity, ...args], { cwd, env })).stdout.trim();
}

/** A Git host that asks for `x-access-token` and this password, and serves one commit in `/my-company/shop.git`. */
export async function startGitHost(password: string, stack: AsyncDisposableStack): Promise<{ url: string }> {
  const served = await openTemporaryFolder(stack, 'git-host');
  const repository = join(served, 'my-company', 'shop.git');
  await mkdir(repository, { recursive: true });
  await runGit(['init', '--quiet', '--initial-branch=main', 'work'], served);
  await runGit(['commit', '--quiet', '--allow-empty', '-m', 'Open the shop'], join(served, 'work'));
  await runGit(['clone', '--quiet', '--bare', join(served, 'work'), repository], served);
  const expected = `Basic ${Buffer.from(`x-access-token:${password}`).toString('base64')}`;
  const url = await serveHttp(stack, (request, response) => {
    if (request.headers.authorization !== expected) response.writeHead(401).end();
    else serveGit(served, request, response);
  });
  return { url };
}
