import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { listen } from '@sluice/service-runtime';

interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: string;
  bytes: Buffer;
}

export interface TestDestination {
  url: string;
  seen: SeenRequest[];
  answer: RequestListener;
  server: Server;
}

export const defaultAnswer: RequestListener = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
};

export async function startDestination(stack: AsyncDisposableStack): Promise<TestDestination> {
  const destination: TestDestination = { url: '', seen: [], answer: defaultAnswer, server: createServer() };
  destination.server.on('request', async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const { method = '', url = '', headers, rawHeaders } = request;
    const bytes = Buffer.concat(chunks);
    destination.seen.push({ method, url, headers, rawHeaders, body: bytes.toString(), bytes });
    destination.answer(request, response);
  });
  const port = await listen(destination.server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => destination.server.closeAllConnections());
  destination.url = `http://127.0.0.1:${port}`;
  return destination;
}
