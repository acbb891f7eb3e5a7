import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serveHttp } from '@sluice/testing';
import { mainFile, openCommandLine, runSluice } from './open-command-line.ts';

/** What the destination needs and an agent must never see. Its characters are written differently in many encodings. */
export const credential = 'sk_live/9f+8e"7d6c5b4a 31<&';

/** A person with all three keys in the profile, who opens routes to a destination that echoes what it gets. */
export async function openMcp(closing: AsyncDisposableStack) {
  const commandLine = await openCommandLine(closing);
  const { platform, env } = commandLine;
  const page = await platform.createApplication({ type: 'public', permissions: ['token:create'] });
  await runSluice(['login'], { env, stdin: page.key });
  const echo = await startEcho(closing);
  const holder = await platform.createApplication({ permissions: ['token:create', 'token:use'] });

  /** A route whose credential is a token that this Proxy alone may use: in this header, at this host. */
  const createRoute = async (path_name: string, members: object) => {
    const destination = { destination_url: echo.url, path_name, application: { id: holder.id } };
    const { id } = await platform.createProxy({ ...destination, ...members });
    const use = { proxies: [id], destinations: ['127.0.0.1'], places: ['header:authorization'] };
    const body = { type: 'token', data: credential, use };
    const token = await platform.call('POST', '/tokens', { key: holder.key, body });
    const request_headers = { Authorization: `Bearer {{ ${token.body.id} }}` };
    await platform.sluice.proxies.patch(id, { request_headers });
    return { id, token: token.body.id as string };
  };

  const sessions = async () => (await platform.manage('GET', '/sessions?size=100')).body.data as { id: string }[];
  return { ...commandLine, echo, createRoute, sessions };
}

type Connecting = { env: Record<string, string>; closing: AsyncDisposableStack; mode?: 'legacy' | 'auto' };

/** The protocol's own client, which has started `sluice mcp`. */
export async function connectAgent(typed: readonly string[], { env, closing, mode = 'legacy' }: Connecting) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [mainFile, 'mcp', ...typed],
    env,
    stderr: 'pipe',
  });
  const heard = { text: '' };
  transport.stderr?.on('data', (chunk) => {
    heard.text += chunk;
  });
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  closing.defer(() => client.close());
  const { onmessage } = transport;
  transport.onmessage = (message) => {
    heard.text += `${JSON.stringify(message)}\n`;
    onmessage?.(message);
  };
  const use = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const texts = (content as { text: string }[]).map((block) => block.text);
    return { isError: isError === true, head: texts[0] ?? '', body: texts[1] ?? '' };
  };
  return {
    client,
    use,
    /** Everything that the process wrote. */
    heard: () => heard.text,
    call: (route: string, path: string, more: object = {}) => use('call', { method: 'GET', route, path, ...more }),
  };
}

/** Answers with all that it got, in the form that the path names. */
async function startEcho(closing: AsyncDisposableStack) {
  const seen: { url: string; headers: Record<string, unknown>; body: string }[] = [];
  const url = await serveHttp(closing, async (request, response) => {
    const got = { url: request.url ?? '', headers: request.headers, body: await text(request) };
    seen.push(got);
    answerIn(request, response, JSON.stringify(got));
  });
  return { url, seen };
}

function answerIn({ url = '', headers }: IncomingMessage, response: ServerResponse, got: string): void {
  const json = { 'Content-Type': 'application/json' };
  const sent = headers.authorization ?? '';
  const [, form = ''] = /^\/([a-z]*)/.exec(url) ?? [];
  const bytes = Buffer.from(got);
  // Of the header as it came, because a guard does not find one encoding in another, as its guide says.
  const plain = Buffer.from(`got ${sent}, and no more`);
  if (form === 'silent') return;
  if (form === 'base') return void response.writeHead(200, json).end(JSON.stringify(plain.toString('base64')));
  if (form === 'hex') return void response.writeHead(200, json).end(JSON.stringify(plain.toString('hex')));
  if (form === 'uri') return void response.writeHead(200, json).end(JSON.stringify(encodeURIComponent(sent)));
  if (form === 'plain') return void response.writeHead(200, { 'Content-Type': 'text/plain' }).end(sent);
  if (form === 'typed') return void response.writeHead(200, { 'Content-Type': `text/plain; a="${sent}"` }).end(got);
  if (form === 'failing') return void response.writeHead(500, json).end(got);
  if (form === 'refusing') return void response.writeHead(401, json).end(got);
  if (form === 'moved') return void response.writeHead(302, { ...json, Location: `/?${encodeURI(sent)}` }).end(got);
  if (form === 'gzip') return void response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync(got));
  if (form === 'untyped') return void response.writeHead(200).end(got);
  if (form === 'image') return void response.writeHead(200, { 'Content-Type': 'image/png' }).end(got);
  if (form === 'long') return void response.writeHead(200, json).end(got.padEnd(50_000, ' x'));
  response.writeHead(200, json);
  if (form !== 'pieces') return void response.end(got);
  for (const byte of bytes) response.write(Buffer.of(byte));
  response.end();
}
