import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { failure } from '../failures.ts';
import { candidates, parseHosts, parseSearchRules, watchedFile } from './system-files.ts';

export interface ResolverOptions {
  /** `address` or `address:port`; default: those of resolv.conf. */
  servers?: readonly string[] | undefined;
  hostsFile?: string | undefined;
  resolvConf?: string | undefined;
}

interface Resolved {
  addresses: LookupAddress[];
  ttlSeconds: number;
}

export interface NameResolver {
  /** Names known without a query: those of the hosts file, and `localhost` with everything below it (RFC 6761). */
  local(name: string): LookupAddress[] | undefined;
  /** @throws ENOTFOUND for a name without addresses, EDNS where no server answers. */
  resolve(name: string): Promise<Resolved>;
  close(): void;
}

/**
 * 1 s for the first attempt at a server and 2 s for the second, so that a silent server leaves time for the next one.
 */
const patience = { timeout: 1000, maxTimeout: 2000, tries: 2 };

const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** By c-ares, because `getaddrinfo` would block one of libuv's four threads while a name server is silent. */
export function nameResolver(options: ResolverOptions = {}): NameResolver {
  const { servers = [], hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf' } = options;
  const hosts = watchedFile(hostsFile, parseHosts);
  const configuration = watchedFile(resolvConf, (text) => {
    const resolver = new Resolver(patience);
    if (servers.length > 0) resolver.setServers(servers);
    return { resolver, rules: parseSearchRules(text) };
  });

  return {
    local(name) {
      const listed = hosts().get(name);
      return listed ?? (name === 'localhost' || name.endsWith('.localhost') ? loopback : undefined);
    },
    async resolve(name) {
      const { resolver, rules } = configuration();
      for (const candidate of candidates(name, rules)) {
        const found = await askForBoth(resolver, candidate);
        if (found) return found;
      }
      throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' });
    },
    close() {
      configuration().resolver.cancel();
    },
  };
}

async function askForBoth(resolver: Resolver, name: string): Promise<Resolved | undefined> {
  const answers = await Promise.allSettled([
    resolver.resolve4(name, { ttl: true }),
    resolver.resolve6(name, { ttl: true }),
  ]);
  const records = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled' ? answer.value.map(({ address, ttl }) => ({ address, ttl, family: i ? 6 : 4 })) : [],
  );
  if (records.length > 0) {
    const addresses = records.map(({ address, family }) => ({ address, family }));
    return { addresses, ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)) };
  }
  for (const answer of answers) {
    if (answer.status === 'fulfilled' || absent.has(answer.reason.code)) continue;
    throw failure('EDNS', `The name servers do not answer for ${name} (${answer.reason.code})`, answer.reason);
  }
  return undefined;
}
