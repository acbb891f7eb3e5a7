import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface SeenRequest {
  line: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface EchoDestination {
  url: string;
  last(): SeenRequest | undefined;
}

type Answer = (request: SeenRequest) => unknown;

/** Plays a careless payment processor, whose answer contains the card number. */
const charged: Answer = ({ body }) => {
  const { amount, card } = body as { amount?: number; card?: { number?: string } };
  return { status: 'charged', amount, card_number: card?.number };
};

export async function startEchoDestination(stack: AsyncDisposableStack, answer = charged): Promise<EchoDestination> {
  let last: SeenRequest | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    last = { line: `${request.method} ${request.url}`, headers: request.headers, body };
    response.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer(last)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, last: () => last };
}
