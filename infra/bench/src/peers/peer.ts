import { join } from 'node:path';
import { type ListeningProcess, startListening } from '../processes/listening-process.ts';

/** The bare proxies to compare with, and their names in tables. */
export const peerNames = { httpProxy: 'http-proxy 1.18.1', undici: 'undici dispatch' } as const;

export type PeerName = keyof typeof peerNames;

const programs: Record<PeerName, string> = {
  httpProxy: 'http-proxy.process.ts',
  undici: 'undici-dispatch.process.ts',
};

export interface PeerOptions {
  destinationUrl: string;
  directory: string;
  /** PEM of a further authority that it trusts. */
  caFile?: string | undefined;
  signal: AbortSignal;
}

/** Starts a bare proxy for one destination. */
export function startPeer(name: PeerName, options: PeerOptions): Promise<ListeningProcess> {
  const { destinationUrl, directory, caFile, signal } = options;
  return startListening({
    file: join(import.meta.dirname, programs[name]),
    args: [destinationUrl],
    env: caFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: caFile },
    logFile: join(directory, `${name}.log`),
    signal,
  });
}
