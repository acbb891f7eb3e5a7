import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@sluice/problems';
import type { Express, Request } from 'express';

/** The content of a page, made for each navigation. */
export interface PageInput {
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  request: IncomingMessage;
  traceId: string;
  address: () => string;
}

export interface PageAnswer {
  status: number;
  html: string;
  headers: Readonly<Record<string, string>>;
}

/** A page that depends on the request; those that do not are static files. */
export interface HtmlPage {
  /** May have parameters: `/sign-in/:name`. */
  path: string;
  answer(input: PageInput): Promise<PageAnswer>;
}

/** GET only, because a HEAD would use up a one-time link without showing anything. */
export function servePages(app: Express, pages: readonly HtmlPage[], addressOf: (request: IncomingMessage) => string) {
  for (const { path, answer } of pages) {
    app.all(path, async (request: Request, response) => {
      if (request.method !== 'GET') {
        response.setHeader('Allow', 'GET');
        throw new ServiceError('method_not_allowed', 'This path accepts only GET');
      }
      const { status, html, headers } = await answer({
        params: request.params as Record<string, string>,
        query: new URLSearchParams(/\?.*$/.exec(request.url)?.[0]),
        request,
        traceId: response.locals.traceId,
        address: () => addressOf(request),
      });
      response.writeHead(status, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': Buffer.byteLength(html),
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
        ...headers,
      });
      response.end(html);
    });
  }
}
