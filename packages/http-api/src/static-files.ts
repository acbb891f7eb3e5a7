import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { ServiceError } from '@sluice/problems';
import type { Express, NextFunction, Request, Response } from 'express';

/** By file extension: the media type, and whether compression makes it smaller. */
const types = {
  html: { mediaType: 'text/html; charset=utf-8', shrinks: true },
  css: { mediaType: 'text/css; charset=utf-8', shrinks: true },
  js: { mediaType: 'text/javascript; charset=utf-8', shrinks: true },
  json: { mediaType: 'application/json; charset=utf-8', shrinks: true },
  svg: { mediaType: 'image/svg+xml', shrinks: true },
  png: { mediaType: 'image/png', shrinks: false },
  woff2: { mediaType: 'font/woff2', shrinks: false },
} as const;

export type StaticFileType = keyof typeof types;

export interface StaticFile {
  /** The exact path of the requests that it answers. No part of a request ever names a file on disk. */
  path: string;
  type: StaticFileType;
  body: Buffer;
  /**
   * `immutable` if the path changes with the content: clients never ask again. `no-store` if no copy may be stored.
   * Otherwise the seconds for which a copy may be used without asking; 0 asks each time, and is answered 304.
   */
  caching: 'immutable' | 'no-store' | { maxAgeSeconds: number };
  /** Further headers. A page needs {@link pageHeaders}. */
  headers?: Readonly<Record<string, string>>;
}

const yearInSeconds = 31_536_000;

/** Smaller files fit into one packet uncompressed. */
const leastCompressedBytes = 1_400;

/**
 * Answers GET and HEAD for exactly these paths: compressed if the client accepts it, with an ETag and 304 if a copy may
 * be stored (RFC 9110 section 13.1.2). Other methods get 405.
 */
export function serveStaticFiles(app: Express, files: readonly StaticFile[]): void {
  const answers = new Map(files.map((file) => [file.path, fileHandler(file)]));
  app.use(async (request: Request, response: Response, next: NextFunction) => {
    const answer = answers.get(request.path);
    if (!answer) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new ServiceError('method_not_allowed', 'This path accepts only GET, HEAD');
    }
    const { headers, body } = await answer(request);
    response.set(headers).send(body);
  });
}

/**
 * Serves a page whose script reads the path itself, at every path that a browser opens as a page and that nothing else
 * serves. `except`: prefixes of paths at which it is not served.
 */
export function servePageForOthers(app: Express, page: StaticFile, except: readonly string[]): void {
  const answer = fileHandler(page);
  app.use(async (request: Request, response: Response, next: NextFunction) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || !opensPage(request) || except.some((start) => request.path.startsWith(start))) return next();
    const { headers, body } = await answer(request);
    response.set(headers).send(body);
  });
}

/** Browsers name HTML when they navigate; scripts, images and programs accept anything or something else. */
function opensPage({ headers: { accept = '' } }: Request): boolean {
  return /\btext\/html\b/.test(accept);
}

function fileHandler({ type, body, caching, headers }: StaticFile) {
  const { mediaType, shrinks } = types[type];
  const compresses = shrinks && body.length >= leastCompressedBytes;
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const made = new Map<Coding, Promise<Buffer>>();
  const fixed = {
    'Content-Type': mediaType,
    'Cache-Control': cacheControl(caching),
    'X-Content-Type-Options': 'nosniff',
    // Weak if the bytes depend on the coding, so that a cache never joins parts of two (RFC 9110 section 8.8.1).
    ...(caching !== 'no-store' && { ETag: compresses ? `W/${etag}` : etag }),
    ...(compresses && { Vary: 'Accept-Encoding' }),
    ...headers,
  };

  /** Compressed once, at the first request, because most processes never serve most files. */
  function compressed(coding: Coding): Promise<Buffer> {
    const bytes = made.get(coding) ?? compress[coding](body);
    made.set(coding, bytes);
    return bytes;
  }

  return async (request: Request) => {
    const coding = compresses ? codings.find((name) => request.acceptsEncodings(name)) : undefined;
    return {
      body: coding ? await compressed(coding) : body,
      headers: {
        ...fixed,
        ...(coding && { 'Content-Encoding': coding }),
      },
    };
  };
}

function cacheControl(caching: StaticFile['caching']): string {
  if (caching === 'no-store') return caching;
  if (caching === 'immutable') return `public, max-age=${yearInSeconds}, immutable`;
  return caching.maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${caching.maxAgeSeconds}`;
}

const codings = ['br', 'gzip'] as const;

type Coding = (typeof codings)[number];

/** Level 9 of brotli, because the highest takes a second for the API reference and saves a tenth. */
const compress: Record<Coding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION }),
};

/**
 * Headers of a page. Its policy allows only what `allowed` names: no inline code, no plug-ins, no forms, no frames
 * around it. Text never becomes code by `innerHTML` and the like (Trusted Types), unless `allowed` names the policies
 * that may create it. Windows of other origins get no handle on the page, and its addresses reach no other host.
 * @param allowed directives of a content security policy with their sources, for example `{ 'style-src': "'self'" }`
 */
export function pageHeaders(allowed: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const directives = {
    'default-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
    ...allowed,
  };
  const policy = Object.entries(directives).map(([name, sources]) => `${name} ${sources}`);
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

export function openapiFile(text: string): StaticFile {
  return { path: '/openapi.json', type: 'json', body: Buffer.from(text), caching: { maxAgeSeconds: 300 } };
}
