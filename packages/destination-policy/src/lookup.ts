import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

export type Resolver = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Its message is for logs, not for callers. */
export class DestinationDeniedError extends Error {
  readonly code = 'EDESTINATIONDENIED';

  /** @param reason names the setting that decides. */
  constructor(host: string, reason: string, address = host) {
    super(`The destination policy denies ${host}${address === host ? '' : ` (${address})`}: ${reason}`);
    this.name = 'DestinationDeniedError';
  }
}

/** Fails when any address is denied. Returns only addresses that it checked, so the name cannot change in between. */
export function checkedLookup(
  whyDenied: (address: string, hostname: string) => string | undefined,
  resolve: Resolver = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? notFound(hostname), '', 0);
      for (const { address } of addresses) {
        const reason = whyDenied(address, hostname);
        if (reason !== undefined) return callback(new DestinationDeniedError(hostname, reason, address), '', 0);
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}
