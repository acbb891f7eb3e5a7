import type { IncomingMessage } from 'node:http';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Express, Response } from 'express';
import type { Operation } from './operation.ts';

export const corsSettings = {
  CORS_ORIGINS: {
    type: 'string',
    default: '*',
    description:
      'Origins, comma separated. Their pages may create tokens with keys of Applications that have no `allowed_origins`. ' +
      '* means all origins',
  },
} as const;

interface CorsOptions {
  headerPrefix: string;
  /** As in {@link corsSettings}. */
  origins: string;
}

const grants = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

/**
 * CORS (Fetch standard). It grants nothing, because the key is in a header and there are no cookies. A preflight
 * carries no key, so it is answered for any origin. The response itself is for the origins of the setting, unless the
 * Application has its own.
 */
export function allowBrowsers<C>(app: Express, { path, method }: Operation<C>, { headerPrefix, origins }: CorsOptions) {
  const listed = new Set(origins.split(',').map((origin) => origin.trim()));
  const allowedHeaders = ['API-KEY', 'TRACE-ID', 'IDEMPOTENCY-KEY'].map((name) => `${headerPrefix}-${name}`);
  app.all(path, (request, response, next) => {
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Access-Control-Allow-Methods', method.toUpperCase());
      response.setHeader('Access-Control-Allow-Headers', ['Content-Type', ...allowedHeaders].join(', '));
      response.setHeader('Access-Control-Max-Age', '7200');
      return response.status(204).end();
    }
    if (request.method !== method.toUpperCase()) return next();
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    if (listed.has('*')) grant(response, '*', headerPrefix);
    else if (origin !== undefined && listed.has(origin)) grant(response, origin, headerPrefix);
    return next();
  });
}

function grant(response: Response, origin: string, headerPrefix: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', `${headerPrefix}-TRACE-ID, Location, Retry-After`);
}

interface OriginCheck {
  caller: Caller;
  /** The origin of the hosted fields. Every Application allows it, because their frames call from there. */
  fieldsOrigin: string | undefined;
}

/**
 * The refusal has no CORS headers, so the page cannot even read it. Programs send no `Origin`, and are not refused.
 * @throws {ServiceError} 403 for a page outside the `allowed_origins` of the key's Application.
 */
export function refuseOrigin(
  { headers: { origin } }: IncomingMessage,
  response: Response,
  { caller: { allowedOrigins }, fieldsOrigin }: OriginCheck,
): void {
  if (!allowedOrigins || origin === undefined) return;
  if (origin === fieldsOrigin || allowedOrigins.includes(origin)) return;
  if (!response.headersSent) for (const name of grants) response.removeHeader(name);
  const detail =
    'Pages of this origin may not use the key: allowed_origins of its Application does not contain the origin';
  throw new ServiceError('forbidden', detail);
}

/** If the Application says which pages may use its key, the setting no longer applies. */
export function showToOrigin(
  { headers: { origin } }: IncomingMessage,
  response: Response,
  { caller: { allowedOrigins }, headerPrefix }: { caller: Caller; headerPrefix: string },
): void {
  if (!allowedOrigins) return;
  for (const name of grants) response.removeHeader(name);
  if (origin !== undefined) grant(response, origin, headerPrefix);
}
