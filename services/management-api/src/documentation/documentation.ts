import { readFileSync } from 'node:fs';
import { openapiFile, pageHeaders, type StaticFile, type StaticFileType, withHeaderPrefix } from '@sluice/http-api';

type PageHeaders = ReturnType<typeof pageHeaders>;

const allowed = { 'style-src': "'self'", 'img-src': "'self'" };
/** Destinations answer on the base host too, so its pages run no script and have no field in which to type a key. */
const baseHeaders = pageHeaders(allowed);
/** No destination answers on the console's host, so there the reference has a search. */
const consoleHeaders = pageHeaders({ ...allowed, 'script-src': "'self'" });

const welcome = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/reference.css">
<main class="welcome"><h1>Sluice is running</h1><p>The API reference is at <a href="/docs">/docs</a>.</p></main>
</html>
`;

export interface Documentation {
  base: StaticFile[];
  console: StaticFile[];
}

/** Made by `npm run openapi` with the prefix SVC. */
export function readDocumentation(headerPrefix: string): Documentation {
  const renamed = (name: string) => withHeaderPrefix(readPublic(name).toString(), headerPrefix);
  const reference = renamed('docs/index.html');
  const errors = renamed('docs/errors.html');
  const assets = [
    openapiFile(renamed('openapi.json')),
    file('/docs/reference.css', 'css', Buffer.concat([readPublic('tokens.css'), readPublic('docs/reference.css')])),
    file('/docs/icon.svg', 'svg', readPublic('docs/icon.svg')),
  ];
  const pages = (reference: string, errors: string, headers: PageHeaders) => [
    page('/docs', reference, headers),
    page('/docs/', reference, headers),
    page('/docs/errors', errors, headers),
  ];
  return {
    base: [page('/', welcome, baseHeaders), ...pages(reference, errors, baseHeaders), ...assets],
    console: [
      ...pages(withSearch(withWayBack(reference)), withWayBack(errors), consoleHeaders),
      file('/docs/console.css', 'css', readPublic('docs/console.css')),
      file('/docs/search.js', 'js', readPublic('docs/search.js')),
      ...assets,
    ],
  };
}

function withSearch(page: string): string {
  return insert(page, '<script type="module" src="/docs/search.js"></script>\n', '</head>');
}

function withWayBack(page: string): string {
  const themed = insert(page, '<script src="/theme.js"></script>\n', '<link rel="stylesheet"');
  const styled = insert(themed, '<link rel="stylesheet" href="/docs/console.css">\n', '</head>');
  return insert(styled, '<a class="back" href="/">Console</a>\n', '</header>');
}

/** @throws {Error} if the generated page has no such place. */
function insert(page: string, text: string, before: string): string {
  const at = page.indexOf(before);
  if (at === -1) throw new Error(`the reference has no ${before}`);
  return page.slice(0, at) + text + page.slice(at);
}

function page(path: string, body: string, headers: PageHeaders): StaticFile {
  return { ...file(path, 'html', body), headers };
}

/** Browsers must revalidate it each time, because the next version has the same paths. */
function file(path: string, type: StaticFileType, body: string | Buffer): StaticFile {
  return { path, type, body: Buffer.from(body), caching: { maxAgeSeconds: 0 } };
}

function readPublic(name: string): Buffer {
  return readFileSync(new URL(`../../public/${name}`, import.meta.url));
}
