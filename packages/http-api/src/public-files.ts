import { createHash } from 'node:crypto';
import { ServiceError } from '@sluice/problems';
import type { Express } from 'express';

export interface PublicFile {
  path: string;
  contentType: string;
  body: Buffer;
  /** 0: the client revalidates each time. */
  maxAgeSeconds: number;
  headers?: Readonly<Record<string, string>>;
}

/** With ETag and 304 (RFC 9110 section 13.1.2). Other methods than GET and HEAD get 405. */
export function servePublicFiles(app: Express, files: readonly PublicFile[]): void {
  for (const { path, contentType, body, maxAgeSeconds, headers = {} } of files) {
    const fixed = {
      'Cache-Control': maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${maxAgeSeconds}`,
      'Content-Type': contentType,
      ETag: `"${createHash('sha256').update(body).digest('base64url')}"`,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    };
    app.get(path, (_request, response) => {
      response.set(fixed).send(body);
    });
    app.all(path, (_request, response) => {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed', 'This path accepts only GET, HEAD');
    });
  }
}

export function openApiFile(text: string): PublicFile {
  return { path: '/openapi.json', contentType: 'application/json', body: Buffer.from(text), maxAgeSeconds: 300 };
}
