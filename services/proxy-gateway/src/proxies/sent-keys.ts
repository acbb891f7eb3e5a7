import type { KeyHashes } from '@sluice/credentials';

/** What a request sent to find its Proxy and its caller. */
export interface SentKeys {
  proxyKey: string;
  apiKey: string | undefined;
  /** Of its connection. */
  hashes: KeyHashes;
}
