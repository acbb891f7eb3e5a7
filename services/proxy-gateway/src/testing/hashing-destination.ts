import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listen } from '@sluice/service-runtime';

interface HashedBody {
  headers: IncomingHttpHeaders;
  sizeBytes: number;
  sha256?: string;
  isWhole?: boolean;
}

export interface HashingDestination {
  url: string;
  seen: HashedBody[];
  answersAtOnce: boolean;
  pause(): void;
  resume(): void;
}

export async function startHashingDestination(stack: AsyncDisposableStack): Promise<HashingDestination> {
  const seen: HashedBody[] = [];
  const destination = { url: '', seen, answersAtOnce: false, pause, resume };
  let isPaused = false;
  let onResume: (() => void)[] = [];
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    const hash = createHash('sha256');
    const body: HashedBody = { headers: request.headers, sizeBytes: 0 };
    seen.push(body);
    const answer = () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
    if (destination.answersAtOnce) answer();
    const read = () =>
      request.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        body.sizeBytes += chunk.length;
      });
    if (isPaused) onResume.push(read);
    else read();
    request.on('end', () => {
      body.sha256 = hash.digest('hex');
      body.isWhole = request.complete;
      if (!response.headersSent) answer();
    });
    request.on('error', () => {
      body.isWhole = false;
    });
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => server.closeAllConnections());
  destination.url = `http://127.0.0.1:${port}`;
  return destination;

  function pause() {
    isPaused = true;
  }

  function resume() {
    isPaused = false;
    for (const read of onResume) read();
    onResume = [];
  }
}
