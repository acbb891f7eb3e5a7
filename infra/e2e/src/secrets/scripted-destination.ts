import { buffer } from 'node:stream/consumers';
import { freePort } from '@sluice/local';
import { serveBytes, serveHttp } from '@sluice/testing';

export type ScriptedDestination = Awaited<ReturnType<typeof startScriptedDestination>>;

export async function startScriptedDestination(closing: AsyncDisposableStack) {
  const received: string[] = [];
  /** By its path: `/echo` sends the body back, `/reset` resets, `/cut` breaks off in the middle, `/bad-json` sends half of it. */
  const url = await serveHttp(closing, async (request, response) => {
    const body = await buffer(request);
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
  /** Sends bytes that are not HTTP and that repeat the request. */
  const brokenUrl = await serveBytes(closing, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (request) =>
      socket.end(`HTTP/1.1 200 OK\r\n${request.toString('latin1').replaceAll(':', '')}\r\n\r\n`),
    );
  });
  const refusingUrl = `http://127.0.0.1:${await freePort()}`; // nobody listens there
  return { url, brokenUrl, refusingUrl, received };
}
