import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startOwned } from '../processes/owned-process.ts';

/** The bare proxies that we are compared with, and how tables call them. */
export const peerNames = { httpProxy: 'http-proxy 1.18.1', undici: 'undici dispatch' } as const;

export type PeerName = keyof typeof peerNames;

const programs: Record<PeerName, string> = {
  httpProxy: 'http-proxy.process.ts',
  undici: 'undici-dispatch.process.ts',
};

export interface Peer extends AsyncDisposable {
  pid: number | undefined;
  url: string;
}

/** Starts a bare proxy to one destination; each is a process that prints its port when it listens. */
export async function startPeer(
  name: PeerName,
  { destinationUrl, directory, signal }: { destinationUrl: string; directory: string; signal: AbortSignal },
): Promise<Peer> {
  const logFile = join(directory, `${name}.log`);
  const args = [join(import.meta.dirname, programs[name]), destinationUrl];
  const started = await startOwned({ command: process.execPath, args, logFile, readsOutput: true });
  try {
    if (!started.child.stdout) throw new Error('The output is not a pipe');
    const lines = createInterface(started.child.stdout);
    const line = once(lines, 'line', { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    const [port] = await line;
    return { ...started, url: `http://127.0.0.1:${port}` };
  } catch (error) {
    await started[Symbol.asyncDispose]();
    signal.throwIfAborted();
    throw new Error(`${peerNames[name]} did not start; see ${logFile}`, { cause: error });
  }
}
