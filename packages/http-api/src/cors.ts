import type { Express } from 'express';
import type { Operation } from './operation.ts';

/**
 * Lets browsers of any origin call an operation (Fetch standard, CORS protocol). The key is in a header and there are
 * no cookies, so an origin gains nothing that it was not given.
 */
export function allowBrowsers<C>(app: Express, { path, method }: Operation<C>, headerPrefix: string): void {
  const allowedHeaders = [
    'Content-Type',
    `${headerPrefix}-API-KEY`,
    `${headerPrefix}-TRACE-ID`,
    `${headerPrefix}-IDEMPOTENCY-KEY`,
  ];
  app.all(path, (request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Expose-Headers', `${headerPrefix}-TRACE-ID, Location, Retry-After`);
    if (request.method !== 'OPTIONS') return next();
    response.setHeader('Access-Control-Allow-Methods', method.toUpperCase());
    response.setHeader('Access-Control-Allow-Headers', allowedHeaders.join(', '));
    response.setHeader('Access-Control-Max-Age', '7200');
    response.status(204).end();
  });
}
