import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { KeyHashes } from '@sluice/credentials';
import { hostAndPort, refuseServiceWorker } from '@sluice/hosts';
import { ServiceError } from '@sluice/problems';
import { faultInHead, pathOfTarget, targetFault, valuesOf } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { nextCdnLoop } from '../http/cdn-loop.ts';
import type { HeaderNames } from '../http/header-names.ts';
import { valueWithoutKey } from '../http/without-keys.ts';
import type { InvocationHead } from '../proxies/invocation.ts';
import { candidatesIn, type SentRoute } from '../proxies/route-keys.ts';

const proxyPath = /^\/proxy(\/[^?]*)?(?:\?(.*))?$/s;
const routePath = /^\/routes\/([^/?]+)(\/[^?]*)?(?:\?(.*))?$/s;
const anyPath = /^(\/[^?]*)?(?:\?(.*))?$/s;
const printable = /^[\x20-\x7e]{1,256}$/;

/** @throws {ServiceError} 400 for framing and targets that two parsers could read differently (RFC 9112 3.2, 6.1). */
export function readInvocation(
  request: IncomingMessage,
  { headerNames: names, hostOf }: Pick<Context, 'headerNames' | 'hostOf'>,
): InvocationHead {
  const { headers, url = '', method = '' } = request;
  checkFraming(request);
  const target = pathOfTarget(url, headers.host);
  if (target === undefined) throw new ServiceError('bad_request', targetFault);
  refuseServiceWorker(request);
  const called = calledIn(target, hostOf(request));
  if (!called) {
    throw new ServiceError(
      'not_found',
      'The path does not exist; invocations are sent to /proxy or /routes/<path_name>',
    );
  }
  if (asksForWebSocket(request)) {
    throw new ServiceError('not_implemented', 'WebSockets are not supported');
  }
  const { path, rawQuery } = called;
  const apiKey = single(headers[names.apiKey]);
  const hashes = keyHashesOf(request.socket);
  const selecting =
    called.pathName === undefined ? byKey(request, rawQuery, names) : byRoute(request, { ...called, apiKey });
  const passed = selecting.route ? valueWithoutKey : asItCame;
  return {
    target: { method, path, query: selecting.query },
    keys: { proxyKey: selecting.proxyKey, apiKey, hashes },
    route: selecting.route,
    keepAlive: passed(reserved(names.keepAlive, headers[names.keepAlive])),
    connection: passed(reserved(names.connection, headers[names.connection])),
    cdnLoop: passed(nextCdnLoop(single(headers['cdn-loop']))) ?? nextCdnLoop(undefined),
  };
}

const asItCame = (value: string | undefined) => value;

interface Called {
  path: string;
  rawQuery: string | undefined;
  /** Of a route. */
  pathName?: string | undefined;
  /** Of a route: as `SentRoute` has it. */
  routePath?: string;
}

function calledIn(target: string, host: ReturnType<Context['hostOf']>): Called | undefined {
  if (host.kind === 'routes') {
    const [, path = '', rawQuery] = anyPath.exec(target) ?? [];
    return { path, rawQuery, pathName: host.pathName, routePath: '' };
  }
  if (host.kind !== 'base') return undefined;
  const proxy = proxyPath.exec(target);
  if (proxy) return { path: proxy[1] ?? '', rawQuery: proxy[2] };
  const [, pathName, path = '', rawQuery] = routePath.exec(target) ?? [];
  return pathName === undefined ? undefined : { path, rawQuery, pathName, routePath: `/routes/${pathName}` };
}

interface Selecting {
  proxyKey: string;
  query: string;
  route: SentRoute | undefined;
}

function byKey(request: IncomingMessage, rawQuery: string | undefined, names: HeaderNames): Selecting {
  const { query, keys } = splitQuery(rawQuery, names.proxyKeyParameter);
  return { proxyKey: onlyKey(keys.concat(valuesOf(request, names.proxyKey)), names), query, route: undefined };
}

/**
 * On a route a parameter of the name of the Proxy key is the client's own.
 * @throws {ServiceError} 400 for a `Host` with which no address of the route could be written.
 */
function byRoute(
  { headers }: IncomingMessage,
  { rawQuery, pathName = '', routePath: path = '', apiKey }: Called & { apiKey: string | undefined },
): Selecting {
  const host = hostAndPort(headers.host ?? '');
  if (host === undefined)
    throw new ServiceError('bad_request', 'Host must be a host name or an address, with or without a port');
  const isBrowser = headers['sec-fetch-site'] !== undefined;
  const candidates = apiKey === undefined ? candidatesIn(headers, isBrowser) : [];
  const query = rawQuery === undefined || rawQuery === '' ? '' : `?${rawQuery}`;
  return { proxyKey: '', query, route: { pathName, path, host, candidates, isBrowser } };
}

const keyHashes = new WeakMap<Socket, KeyHashes>();

function keyHashesOf(socket: Socket): KeyHashes {
  let hashes = keyHashes.get(socket);
  if (!hashes) {
    hashes = new KeyHashes();
    keyHashes.set(socket, hashes);
  }
  return hashes;
}

function checkFraming(request: IncomingMessage): void {
  if (request.rawHeaders.length > 200) {
    throw new ServiceError('headers_too_large', 'A request may have at most 100 headers', { limit: 'headers' });
  }
  const fault = faultInHead(request);
  if (fault) throw new ServiceError(fault.code, fault.detail);
  if (valuesOf(request, 'content-type').length > 1) {
    throw new ServiceError('bad_request', 'A request may have only one Content-Type header');
  }
}

/** Ignores other offers of an upgrade (RFC 9110 section 7.8), because clients offer `h2c` with ordinary requests. */
function asksForWebSocket({ headers: { upgrade, connection = '' } }: IncomingMessage): boolean {
  return upgrade !== undefined && /\bupgrade\b/i.test(connection) && /\bwebsocket\b/i.test(upgrade);
}

const noQuery = { query: '', keys: [] };

/** The query byte for byte, without the parameters that carry the proxy key. */
function splitQuery(raw: string | undefined, parameter: string): { query: string; keys: string[] } {
  if (raw === undefined || raw === '') return noQuery;
  const keys: string[] = [];
  const kept = raw.split('&').filter((pair) => {
    if (!mayName(pair, parameter)) return true;
    const [entry] = new URLSearchParams(pair);
    if (entry?.[0] !== parameter) return true;
    keys.push(entry[1]);
    return false;
  });
  return { query: kept.length === 0 ? '' : `?${kept.join('&')}`, keys };
}

/** Checks the length first, because an escaped character takes three. Other names are not decoded. */
function mayName(pair: string, parameter: string): boolean {
  const equals = pair.indexOf('=');
  const length = equals === -1 ? pair.length : equals;
  return length >= parameter.length && length <= 3 * parameter.length;
}

function onlyKey(sent: readonly string[], { prefix, proxyKeyParameter }: HeaderNames): string {
  const [key] = sent;
  if (!key) {
    const where = `the ${prefix}-PROXY-KEY header or the ${proxyKeyParameter} query parameter`;
    throw new ServiceError('bad_request', `The proxy key is missing: send it in ${where}`);
  }
  if (sent.some((other) => other !== key)) {
    throw new ServiceError('bad_request', 'Header and query have different proxy keys; send one proxy key');
  }
  return key;
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}

function reserved(name: string, value: string | string[] | undefined): string | undefined {
  const text = single(value);
  if (text === undefined || printable.test(text)) return text;
  throw new ServiceError('bad_request', `${name.toUpperCase()} must be 1 to 256 printable characters`);
}
