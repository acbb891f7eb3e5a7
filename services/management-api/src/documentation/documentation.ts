import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { openApiFile, type PublicFile, withHeaderPrefix } from '@sluice/http-api';

const require = createRequire(import.meta.url);
const dayInSeconds = 86_400;

/** Allows only scripts and styles of this service, and no requests to other hosts. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const swaggerFiles = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

export function readDocumentation(headerPrefix: string): PublicFile[] {
  const document = readPublic('openapi.json').toString();
  const pages = [welcome(), page('/docs'), page('/docs/')];
  return [openApiFile(withHeaderPrefix(document, headerPrefix)), ...pages, script(), ...swagger()];
}

function welcome(): PublicFile {
  const text =
    '<!doctype html><title>Sluice</title><p>Sluice is running. The API reference is at <a href="/docs">/docs</a>.\n';
  return { ...page('/'), body: Buffer.from(text) };
}

function page(path: string): PublicFile {
  return {
    path,
    contentType: 'text/html; charset=utf-8',
    body: readPublic('docs/index.html'),
    maxAgeSeconds: 0,
    headers: { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' },
  };
}

function script(): PublicFile {
  return {
    path: '/docs/start.js',
    contentType: 'text/javascript; charset=utf-8',
    body: readPublic('docs/start.js'),
    maxAgeSeconds: 0,
  };
}

function swagger(): PublicFile[] {
  return Object.entries(swaggerFiles).map(([name, contentType]) => ({
    path: `/docs/${name}`,
    contentType,
    body: readFileSync(require.resolve(`swagger-ui-dist/${name}`)),
    maxAgeSeconds: dayInSeconds,
  }));
}

function readPublic(name: string): Buffer {
  return readFileSync(new URL(`../../public/${name}`, import.meta.url));
}
