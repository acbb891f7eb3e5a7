import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Before Postgres sees a statement, or after it has run and before the answer. */
export type Cut = 'before' | 'after';

export interface StatementDoor {
  url: string;
  /** The number of statements so far, `begin` and `commit` included. */
  count(): number;
  /** At the nth statement from now, counted from 1. Returns a function that cancels it. */
  cutAt(n: number, cut: Cut): () => void;
  holdAt(n: number): { reached: Promise<void>; release: () => void };
}

interface Plan {
  at: number;
  cut?: Cut;
  hold?: { reached: () => void; released: Promise<void> };
}

/** Recognizes the end of a statement: a simple query, or a Sync of the extended protocol. */
export async function openStatementDoor(databaseUrl: string, stack: AsyncDisposableStack): Promise<StatementDoor> {
  const url = new URL(databaseUrl);
  const target = { port: Number(url.port), host: url.hostname };
  const sockets = new Set<Socket>();
  let count = 0;
  let plan: Plan | undefined;
  const server = createServer((client) => {
    const upstream = connect(target);
    let isDying = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true)); // sends the messages of a statement one by one
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end).on('data', (answer: Buffer) => {
      if (!isDying) client.write(answer);
      else if (isReady(answer)) end();
    });
    void relay(client, async (message, isStatement) => {
      if (isStatement) count += 1;
      if (isStatement && plan?.at === count) {
        const { cut, hold } = plan;
        plan = undefined;
        hold?.reached();
        await hold?.released;
        if (cut === 'before') return end();
        isDying = cut === 'after';
      }
      upstream.write(message);
    }).catch(end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The door has no port');
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    count: () => count,
    cutAt(n, cut) {
      plan = { at: count + n, cut };
      return () => {
        plan = undefined;
      };
    },
    holdAt(n) {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      plan = { at: count + n, hold: { reached: reached.resolve, released: released.promise } };
      return { reached: reached.promise, release: released.resolve };
    },
  };
}

/** The first message has no letter before its length. */
async function relay(client: Socket, pass: (message: Buffer, isStatement: boolean) => Promise<void>): Promise<void> {
  let waiting = Buffer.alloc(0);
  let letters = 0;
  for await (const chunk of client) {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= letters + 4) {
      const length = letters + waiting.readUInt32BE(letters);
      if (waiting.length < length) break;
      const message = waiting.subarray(0, length);
      waiting = waiting.subarray(length);
      await pass(message, letters === 1 && 'QS'.includes(String.fromCharCode(message[0] ?? 0)));
      letters = 1;
    }
  }
}

/** ReadyForQuery means that the statement is done. */
function isReady(answer: Buffer): boolean {
  return answer.length >= 6 && answer.subarray(-6, -1).equals(Buffer.from([0x5a, 0, 0, 0, 5]));
}
