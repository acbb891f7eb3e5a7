import { join } from 'node:path';
import { startListening } from '../processes/owned-process.ts';

/** The bare proxies to compare with: their names in tables, and their programs. */
export const peers = {
  httpProxy: { name: 'http-proxy 1.18.1', program: 'http-proxy.process.ts' },
  undici: { name: 'undici dispatch', program: 'undici-dispatch.process.ts' },
} as const;

export type PeerName = keyof typeof peers;

export interface PeerOptions {
  destinationUrl: string;
  directory: string;
  /** PEM of a further authority that it trusts. */
  caFile?: string | undefined;
  signal: AbortSignal;
}

/** Starts a bare proxy for one destination. */
export function startPeer(name: PeerName, { destinationUrl, directory, caFile, signal }: PeerOptions) {
  return startListening({
    file: join(import.meta.dirname, peers[name].program),
    args: [destinationUrl],
    env: caFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: caFile },
    logFile: join(directory, `${name}.log`),
    signal,
  });
}
