import { connect } from 'node:net';
import { serveBytes } from './serve.ts';

export interface TenantDoor {
  url: string;
  /** From now on Postgres gets no statement that names this, such as a Tenant, as if each took very long. */
  hold(named: string | Buffer): void;
  /** Connections with a statement that is held. */
  held(): number;
  release(): void;
}

/** Before Postgres. Values of statements are text or bytes, and are found as such. */
export async function openTenantDoor(databaseUrl: string, stack: AsyncDisposableStack): Promise<TenantDoor> {
  const target = new URL(databaseUrl);
  let heldName: string | Buffer | undefined;
  let held = 0;
  let released = Promise.withResolvers<void>();
  const server = await serveBytes(stack, async (client) => {
    const upstream = connect(Number(target.port), target.hostname).setNoDelay();
    client.setNoDelay().on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).pipe(client);
    try {
      for await (const chunk of client as AsyncIterable<Buffer>) {
        if (heldName !== undefined && chunk.includes(heldName)) {
          held += 1;
          await released.promise;
          held -= 1;
        }
        upstream.write(chunk);
      }
    } catch {
      // The client has left, and its error has ended the other side.
    }
    upstream.end();
  });
  const url = new URL(databaseUrl);
  url.host = new URL(server).host;
  return {
    url: url.href,
    held: () => held,
    hold(named) {
      heldName = named;
      released = Promise.withResolvers();
    },
    release() {
      heldName = undefined;
      released.resolve();
    },
  };
}
