import { readFileSync } from 'node:fs';
import { openapiFile, pageHeaders, type StaticFile, type StaticFileType, withHeaderPrefix } from '@sluice/http-api';

/** Destinations answer on the base host too, so its pages run no script and have no field in which to type a key. */
const headers = pageHeaders({ 'style-src': "'self'", 'img-src': "'self'" });

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

/** Made by `npm run openapi` with the prefix SVC. */
export function readDocumentation(headerPrefix: string): StaticFile[] {
  const renamed = (name: string) => withHeaderPrefix(readPublic(name).toString(), headerPrefix);
  const reference = renamed('docs/index.html');
  return [
    openapiFile(renamed('openapi.json')),
    file('/', 'html', welcome),
    file('/docs', 'html', reference),
    file('/docs/', 'html', reference),
    file('/docs/reference.css', 'css', Buffer.concat([readPublic('tokens.css'), readPublic('docs/reference.css')])),
    file('/docs/icon.svg', 'svg', readPublic('docs/icon.svg')),
  ];
}

/** Browsers must revalidate it each time, because the next version has the same paths. */
function file(path: string, type: StaticFileType, body: string | Buffer): StaticFile {
  const caching = { maxAgeSeconds: 0 };
  return { path, type, body: Buffer.from(body), caching, ...(type === 'html' && { headers }) };
}

function readPublic(name: string): Buffer {
  return readFileSync(new URL(`../../public/${name}`, import.meta.url));
}
