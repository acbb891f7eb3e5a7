import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@sluice/problems';
import type { Express, NextFunction, Request, Response } from 'express';
import { type Operation, Reply } from './operation.ts';
import { singleHeader } from './single-header.ts';

/** The prefix of paths whose operations take a cookie: `/api/applications`. */
export const cookieApiPath = '/api';

/** The operations with their paths in an API by cookie. */
export function underCookieApi<O extends { path: string }>(operations: readonly O[]): O[] {
  return operations.map((operation) => ({ ...operation, path: cookieApiPath + operation.path }));
}

/** Puts {@link cookieApiPath} before the path in `Location`. */
export function atCookieApi({ status, body, headers }: Reply): Reply {
  const { Location: location } = headers;
  return location === undefined
    ? new Reply(status, body, headers)
    : new Reply(status, body, { ...headers, Location: cookieApiPath + location });
}

/**
 * Browsers send the cookie with requests of any page, so requests that do not come from our own pages are refused
 * before the cookie is read, even GET. SameSite alone would let pages of sibling hosts through, because hosts under one
 * registrable domain are same-site. Browsers set `Sec-Fetch-Site`, which no page can set (Fetch Metadata), and a form
 * cannot send our own header.
 */
export function guardCookieApi(app: Express, operations: readonly Operation<never>[], headerPrefix: string): void {
  const downloads = new Set(operations.filter(({ isDownload }) => isDownload).map(({ path }) => path));
  app.use(cookieApiPath, (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin').setHeader('X-Content-Type-Options', 'nosniff');
    const isDownload = downloads.has(request.baseUrl + request.path);
    refuseForeign(request, { alsoNone: isDownload && isRead(request) });
    if (!isRead(request)) requireConsoleHeader(request, headerPrefix);
    next();
  });
}

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

/** Whether a browser sent it for a page of this host; `alsoNone` lets a person's own navigation count. */
export function isOwn(request: IncomingMessage, { alsoNone = false } = {}): boolean {
  const site = singleHeader(request, 'Sec-Fetch-Site');
  return site === 'same-origin' || (alsoNone && site === 'none');
}

/** @throws {ServiceError} `forbidden` for a request that is not {@link isOwn}. */
export function refuseForeign(request: IncomingMessage, { alsoNone = false } = {}): void {
  if (isOwn(request, { alsoNone })) return;
  throw new ServiceError(
    'forbidden',
    'Only pages of this host may send this request. The browser must send the header Sec-Fetch-Site: same-origin with it',
  );
}

function requireConsoleHeader(request: IncomingMessage, headerPrefix: string): void {
  const name = `${headerPrefix}-CONSOLE`;
  if (singleHeader(request, name) === '1') return;
  throw new ServiceError('forbidden', `This request changes something, so it needs the header ${name}: 1`);
}
