import { freePort } from '@sluice/local';
import { serveBytes, serveHttp } from '@sluice/testing';

export interface ScriptedDestination {
  /** By its path: `/echo` sends the body back, `/reset` resets, `/cut` breaks off in the middle, `/bad-json` sends half of it. */
  url: string;
  /** Answers what is not HTTP, with the request in it. */
  brokenUrl: string;
  /** Nobody listens there. */
  refusingUrl: string;
  received: string[];
}

export async function startScriptedDestination(closing: AsyncDisposableStack): Promise<ScriptedDestination> {
  const received: string[] = [];
  const url = await serveHttp(closing, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    received.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
    const path = request.url?.split(/[?/]/)[1];
    if (path === 'reset') request.socket.resetAndDestroy();
    else if (path === 'hang') setTimeout(() => response.destroy(), 3000).unref();
    else if (path === 'cut') {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length + 100 });
      response.write(body, () => request.socket.resetAndDestroy());
    } else if (path === 'bad-json') {
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(`${body.toString().trimEnd().slice(0, -1)} x}`);
    } else {
      response.writeHead(path === 'refuse' ? 422 : 200, { 'Content-Type': 'application/json' }).end(body);
    }
  });
  const brokenUrl = await serveBytes(closing, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (request) =>
      socket.end(`HTTP/1.1 200 OK\r\n${request.toString('latin1').replaceAll(':', '')}\r\n\r\n`),
    );
  });
  return { url, brokenUrl, refusingUrl: `http://127.0.0.1:${await freePort()}`, received };
}
