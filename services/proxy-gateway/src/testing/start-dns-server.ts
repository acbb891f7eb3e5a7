import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Answers by name. Other names do not exist; `silent` is never answered. */
export type DnsZone = Record<string, { addresses: string[]; ttl: number } | 'silent' | 'fails'>;

export interface DnsServer {
  /** `address:port`. */
  server: string;
  asked: string[];
  setZone(zone: DnsZone): Promise<void>;
}

export async function startDnsServer(stack: AsyncDisposableStack): Promise<DnsServer> {
  const child = fork(new URL('./dns-server.ts', import.meta.url), { execArgv: [] });
  stack.defer(async () => {
    child.disconnect();
    await once(child, 'exit');
  });
  const asked: string[] = [];
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let onTaken = () => {};
  child.on('message', (message: { asked?: string; taken?: boolean }) => {
    if (message.asked !== undefined) asked.push(message.asked);
    if (message.taken) onTaken();
  });
  return {
    server: `127.0.0.1:${port}`,
    asked,
    async setZone(zone) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onTaken = resolve;
      child.send(zone);
      await promise;
    },
  };
}
