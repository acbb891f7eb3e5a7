import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the server misbehaves: `next` lists the next requests' faults; `all` is for every later one. */
export type TransitFault =
  | 'none'
  | 'slow'
  | 'unavailable'
  | 'sealed'
  | 'reset'
  | 'garbage'
  | 'long'
  | 'redirect'
  | 'limited';

interface TransitRequest {
  method: string;
  path: string;
  token: string | undefined;
}

interface Body {
  plaintext?: string;
  ciphertext?: string;
  associated_data?: string;
}

const cut = { authTagLength: 16 };
const statusOf = { unavailable: 500, sealed: 503, redirect: 307, limited: 429, garbage: 200, long: 200 } as const;

/** The transit engine of HashiCorp Vault with a key of type aes256-gcm96: versions, associated data, and refusals. */
export async function startTransitServer(
  stack: AsyncDisposableStack,
  { token = 'hvs.test-token', mount = 'transit', key = 'sluice' } = {},
) {
  const versions: Buffer[] = [randomBytes(32)];
  const requests: TransitRequest[] = [];
  const faults: { next: TransitFault[]; all: TransitFault } = { next: [], all: 'none' };
  const waiting = new Set<ServerResponse>();

  function encrypt({ plaintext = '', associated_data = '' }: Body) {
    const nonce = randomBytes(12);
    const [rootKey] = versions.slice(-1);
    if (!rootKey) throw new Error('no key');
    const cipher = createCipheriv('aes-256-gcm', rootKey, nonce, cut).setAAD(Buffer.from(associated_data, 'base64'));
    const text = Buffer.concat([cipher.update(Buffer.from(plaintext, 'base64')), cipher.final()]);
    const base64 = Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64');
    return { ciphertext: `vault:v${versions.length}:${base64}`, key_version: versions.length };
  }

  function decrypt({ ciphertext = '', associated_data = '' }: Body) {
    const [, version, base64 = ''] = /^vault:v(\d+):(.*)$/.exec(ciphertext) ?? [];
    const rootKey = versions[Number(version) - 1];
    if (!rootKey) return undefined;
    const bytes = Buffer.from(base64, 'base64');
    try {
      const decipher = createDecipheriv('aes-256-gcm', rootKey, bytes.subarray(0, 12), cut)
        .setAAD(Buffer.from(associated_data, 'base64'))
        .setAuthTag(bytes.subarray(-16));
      return {
        plaintext: Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('base64'),
      };
    } catch {
      return undefined; // answered with 400, as Vault does
    }
  }

  function answer(path: string, method: string, body: Body): [status: number, body: object] {
    const data = (value: object | undefined): [number, object] =>
      value ? [200, { data: value }] : [400, { errors: ['cipher: message authentication failed'] }];
    if (method === 'POST' && path === `/v1/${mount}/encrypt/${key}`) return data(encrypt(body));
    if (method === 'POST' && path === `/v1/${mount}/decrypt/${key}`) return data(decrypt(body));
    if (method === 'GET' && path === `/v1/${mount}/keys/${key}`) {
      return data({ type: 'aes256-gcm96', latest_version: versions.length });
    }
    return [404, { errors: [`no handler for route "${path}"`] }];
  }

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '' } = request;
    const sent = request.headers['x-vault-token'];
    requests.push({ method, path, token: typeof sent === 'string' ? sent : undefined });
    const body = await readBody(request);
    const fault = faults.next.shift() ?? faults.all;
    if (fault === 'slow') return void waiting.add(response);
    if (fault === 'reset') return void request.socket.resetAndDestroy();
    if (fault !== 'none') {
      response.writeHead(statusOf[fault], fault === 'redirect' ? { location: `http://127.0.0.1:9/v1${path}` } : {});
      const texts = { garbage: `<html>${sent}`, long: JSON.stringify({ data: { sent, more: ' '.repeat(64 * 1024) } }) };
      const error = JSON.stringify({ errors: [`told: ${sent}`] });
      return void response.end(fault === 'garbage' || fault === 'long' ? texts[fault] : error);
    }
    const [status, value] =
      sent === token ? answer(path, method, body) : [403, { errors: ['permission denied', sent] }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  stack.defer(close);

  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    mount,
    key,
    requests,
    faults,
    rotate: () => void versions.push(randomBytes(32)),
    replaceVersion: (version: number) => void versions.splice(version - 1, 1, randomBytes(32)),
    close,
  };
}

export type TransitServer = Awaited<ReturnType<typeof startTransitServer>>;

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
}
