import { createHash } from 'node:crypto';
import { ServiceError } from '@sluice/problems';
import type { Express } from 'express';

/** A file that anybody may read without a key. */
export interface PublicFile {
  path: string;
  contentType: string;
  body: Buffer;
  /** How long a client may cache it; 0 means that it revalidates each time. */
  maxAgeSeconds: number;
  headers?: Readonly<Record<string, string>>;
}

/** Answers GET and HEAD of the files, with an ETag and 304 (RFC 9110 section 13.1.2), and 405 to other methods. */
export function servePublicFiles(app: Express, files: readonly PublicFile[]): void {
  for (const { path, contentType, body, maxAgeSeconds, headers = {} } of files) {
    const fixed = {
      'Cache-Control': maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${maxAgeSeconds}`,
      'Content-Type': contentType,
      ETag: `"${createHash('sha256').update(body).digest('base64url')}"`,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    };
    // Express answers HEAD, and 304 for a matching ETag.
    app.get(path, (_request, response) => {
      response.set(fixed).send(body);
    });
    app.all(path, (_request, response) => {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed', 'This path accepts only GET, HEAD');
    });
  }
}

/** Serves an OpenAPI document at its usual path. */
export function openApiFile(text: string): PublicFile {
  return { path: '/openapi.json', contentType: 'application/json', body: Buffer.from(text), maxAgeSeconds: 300 };
}
