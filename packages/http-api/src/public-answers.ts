import { ServiceError } from '@sluice/problems';
import type { Express } from 'express';

export interface PublicAnswer {
  path: string;
  contentType: string;
  maxAgeSeconds: number;
  /** @throws {ServiceError} for invalid parameters, and `not_found`. */
  answer(params: Readonly<Record<string, string>>): string;
}

export function servePublicAnswers(app: Express, answers: readonly PublicAnswer[]): void {
  for (const { path, contentType, maxAgeSeconds, answer } of answers) {
    app.get(path, (request, response) => {
      const text = answer(request.params as Record<string, string>);
      const cacheControl = `public, max-age=${maxAgeSeconds}`;
      const fixed = { 'Content-Type': contentType, 'X-Content-Type-Options': 'nosniff' };
      response.set({ ...fixed, 'Cache-Control': cacheControl }).send(text);
    });
    app.all(path, (_request, response) => {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed', 'This path accepts only GET, HEAD');
    });
  }
}
