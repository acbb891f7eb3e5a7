import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { DestinationDeniedError, type DestinationPolicy } from '@sluice/destination-policy';
import { failure } from './failures.ts';
import { type HeaderFilter, headerFilter } from './headers.ts';
import { type Link, openLink } from './link.ts';
import { type NamesOptions, type NamesState, openNames } from './names/names.ts';
import type { DestinationRequest } from './target.ts';

export interface DestinationOptions {
  policy: DestinationPolicy;
  caFile?: string | undefined;
  headerPrefix: string;
  /** From the start of a call, or the last progress of a streamed body, to the response head. */
  headTimeoutMs: number;
  /** For name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
  keepAliveTimeoutMs: number;
  /** Concurrent calls for each Tenant and origin. */
  maxConnectionsPerOrigin: number;
  /** Limits the headers of an answer, and its trailers. Default 64 KiB. */
  maxHeadBytes?: number;
  /** How many calls may wait for a connection. Default: any number. */
  maxWaitingPerOrigin?: number;
  names?: NamesOptions;
  /** How many pairs of Tenant and origin keep connections. Default 2,000. */
  maxLinks?: number;
}

interface DestinationsState {
  waiting: number;
  waitingRefusals: number;
  names: NamesState;
}

type LinkedRequest = Pick<DestinationRequest, 'tenantId' | 'origin' | 'noCallerWaits'>;

export interface Destinations {
  readonly headers: HeaderFilter;
  readonly headTimeoutMs: number;
  /** @throws when the policy denies the origin, or when the gateway is stopping. */
  link(request: LinkedRequest): Link;
  state(): DestinationsState;
  /** Fails the calls that a caller waits for and that have no response head yet, and all later ones. */
  endUnanswered(): void;
  /** Lets running calls finish for at most `drainMs` (default 5,000), then closes every socket. */
  close(drainMs?: number): Promise<void>;
}

const sweepMs = 30_000;
/** Sweeps after which an unused link is closed: 60 to 90 seconds. */
const maxIdleSweeps = 3;

/** Opens no connection yet. @throws when the CA file cannot be read. */
export function openDestinations(options: DestinationOptions): Destinations {
  const links = new Map<string, Link>();
  let waitingRefusals = 0;
  const onRefused = () => {
    waitingRefusals++;
  };
  const { maxHeadBytes = 64 * 1024 } = options;
  const linkOptions = { ...options, maxHeadBytes, onRefused, secureContext: trustedRoots(options.caFile) };
  const names = openNames({ maxWaitMs: options.connectTimeoutMs, ...options.names });
  const maxLinks = options.maxLinks ?? 2000;
  const sweeper = setInterval(() => sweep(links), sweepMs).unref();
  let endsUnanswered = false;
  let isClosing = false;

  function link({ tenantId, origin, noCallerWaits }: LinkedRequest): Link {
    if (isClosing || (endsUnanswered && !noCallerWaits)) throw failure('ECLOSING', 'The destinations are closing');
    const key = `${tenantId} ${origin}`;
    let found = links.get(key);
    if (!found) {
      const verdict = options.policy.checkUrl(origin);
      if (!verdict.ok) throw new DestinationDeniedError(origin, `it ${verdict.reason}`);
      if (links.size >= maxLinks) closeLongestIdle(links);
      const lookup = options.policy.lookupBy(names.resolverFor(tenantId));
      found = openLink(origin, { ...linkOptions, lookup });
      links.set(key, found);
    }
    found.idleSweeps = 0;
    return found;
  }

  function state(): DestinationsState {
    let waiting = 0;
    for (const { slots } of links.values()) waiting += slots.waiting;
    return { waiting, waitingRefusals, names: names.state() };
  }

  function endUnanswered(): void {
    endsUnanswered = true;
    for (const { slots } of links.values()) slots.closeAll();
  }

  async function close(drainMs = 5000): Promise<void> {
    isClosing = true;
    clearInterval(sweeper);
    const deadline = performance.now() + drainMs;
    while ([...links.values()].some(({ active }) => active > 0) && performance.now() < deadline) await wait(10);
    await Promise.all([...links.values()].map(closeLink));
    links.clear();
    names.close();
  }

  const headers = headerFilter(options.headerPrefix);
  return { headers, headTimeoutMs: options.headTimeoutMs, link, state, endUnanswered, close };
}

function sweep(links: Map<string, Link>): void {
  for (const [key, link] of links) {
    if (link.active > 0) continue;
    link.idleSweeps++;
    if (link.idleSweeps >= maxIdleSweeps) remove(links, key, link);
  }
}

/** Closes none while all links are in use; then their number is limited by the number of calls. */
function closeLongestIdle(links: Map<string, Link>): void {
  let longest: [string, Link] | undefined;
  for (const entry of links) {
    if (entry[1].active === 0 && (!longest || entry[1].idleSweeps > longest[1].idleSweeps)) longest = entry;
  }
  if (longest) remove(links, ...longest);
}

function remove(links: Map<string, Link>, key: string, link: Link): void {
  links.delete(key);
  void closeLink(link);
}

function closeLink(link: Link): Promise<void> {
  link.isClosed = true;
  link.agent.destroy();
  return link.pool.destroy();
}

/** Shared by all connections, because reading over a hundred root certificates takes milliseconds. */
function trustedRoots(caFile: string | undefined): SecureContext {
  if (caFile === undefined) return createSecureContext();
  const pem = readFileSync(caFile, 'utf8');
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(`DESTINATION_CA_FILE: ${caFile} holds no certificate`);
  return createSecureContext({ ca: [...getCACertificates('default'), pem] });
}
