import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServiceError } from '@sluice/problems';
import type { FetchHost } from '../fetches.ts';

const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/echo': async (received, response) => {
    const body = Buffer.concat(await received.toArray());
    const { method, headers, url } = received;
    const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => /^(content-type|x-)/.test(name)));
    response
      .setHeader('Content-Type', 'application/json')
      .end(JSON.stringify([method, url, shown, body.toString('hex')]));
  },
  '/bytes': (_, response) => response.end(Buffer.from([0xff, 0x00, 0xfe, 0x41])),
  '/marked': (_, response) => response.end(Buffer.from('\ufeffmärked')),
  '/broken-text': (_, response) => response.end(Buffer.from('a\xff\xe2\x82b', 'latin1')),
  '/headers': (_, response) => {
    response.setHeader('X-Two', ['a', 'b']).setHeader('Set-Cookie', ['a=1; Path=/', 'b=2']).setHeader('X-Latin', 'ü');
    response.writeHead(201, 'Made it').end('x');
  },
  '/redirect': (_, response) => response.writeHead(302, { Location: '/echo' }).end('elsewhere'),
  '/none': (_, response) => response.writeHead(204).end(),
  '/not-modified': (_, response) => response.writeHead(304).end(),
  '/missing': (_, response) => response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not here'),
  '/fault': (_, response) => response.writeHead(500).end('{"error":'),
  '/cut': (_, response) => {
    response.writeHead(200, { 'Content-Length': 10 });
    response.write('part', () => response.destroy());
  },
  '/silent': (_, response) => void response.writeHead(200).write('begun'),
  '/never': () => {},
};

/** Real answers, for Node's own `fetch` and for ours. */
export async function startFetchingServer(stack: AsyncDisposableStack): Promise<{ url: string; open(): number }> {
  const server = createServer((received, response) => {
    const path = received.url?.split('?')[0] ?? '';
    const answer = answers[path];
    if (answer) answer(received, response);
    else response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let open = 0;
  server.on('request', (_, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
  });
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, open: () => open };
}

/** Sends by node:http what code fetches, without any rule of a gateway. */
export const sendAsItIs: FetchHost = ({ url, method, headers, body }, signal) =>
  new Promise((resolve, reject) => {
    const failed = (cause: unknown) => new ServiceError('destination_failed', 'The call failed', { cause });
    const sent = request(
      url,
      { method, headers: ['Host', new URL(url).host, ...headers.flat()], signal, agent: false },
      (response) => {
        const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response;
        const lines = Array.from({ length: rawHeaders.length / 2 }, (_, at): [string, string] => [
          rawHeaders[2 * at] ?? '',
          rawHeaders[2 * at + 1] ?? '',
        ]);
        const whole = response.toArray().then((chunks) => new Uint8Array(Buffer.concat(chunks)));
        whole.catch(() => {}); // code may not read it
        resolve({
          status,
          statusText,
          headers: lines,
          body: () => whole.catch((cause) => Promise.reject(failed(cause))),
        });
      },
    );
    sent.on('error', (error) => reject(failed(error))).end(body);
  });
