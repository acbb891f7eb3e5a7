import type { Express } from 'express';
import type { Operation } from './operation.ts';

export const corsSettings = {
  CORS_ORIGINS: {
    type: 'string',
    default: '*',
    description: 'Origins whose pages may create tokens, comma separated; * for all, empty for none',
  },
} as const;

interface CorsOptions {
  headerPrefix: string;
  origins: string;
}

/** CORS (Fetch standard). It grants nothing, because the key is in a header and there are no cookies. */
export function allowBrowsers<C>(app: Express, { path, method }: Operation<C>, { headerPrefix, origins }: CorsOptions) {
  const listed = new Set(origins.split(',').map((origin) => origin.trim()));
  const allowedHeaders = ['API-KEY', 'TRACE-ID', 'IDEMPOTENCY-KEY'].map((name) => `${headerPrefix}-${name}`);
  app.all(path, (request, response, next) => {
    const isPreflight = request.method === 'OPTIONS';
    if (!isPreflight && request.method !== method.toUpperCase()) return next();
    if (!listed.has('*')) response.setHeader('Vary', 'Origin');
    const origin = listed.has('*') ? '*' : request.headers.origin;
    if (origin !== undefined && (origin === '*' || listed.has(origin))) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Expose-Headers', `${headerPrefix}-TRACE-ID, Location, Retry-After`);
    }
    if (!isPreflight) return next();
    response.setHeader('Access-Control-Allow-Methods', method.toUpperCase());
    response.setHeader('Access-Control-Allow-Headers', ['Content-Type', ...allowedHeaders].join(', '));
    response.setHeader('Access-Control-Max-Age', '7200');
    response.status(204).end();
  });
}
