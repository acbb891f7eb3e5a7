import { canonicalUuid, type HtmlPage, html, pageHeaders } from '@sluice/http-api';

/** With these a page that is cross-origin isolated may embed the frame. */
const inIsolatedPages = {
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

interface FieldPageOptions {
  /** Version of the hosted fields. */
  version: string;
  headerPrefix: string;
  /** The origins whose pages may embed fields of this Application. */
  embeddersOf(applicationId: string): Promise<readonly string[]>;
}

/**
 * The page of a frame in which people type. It is the same for all Applications except for the origins that may embed
 * it, so it does not reveal which Applications exist. The key and the field's options arrive through a MessagePort, so
 * they are in no URL.
 */
export function fieldPage({ version, headerPrefix, embeddersOf }: FieldPageOptions): HtmlPage {
  const file = (name: string) => `/elements/${version}/${name}`;
  const { text } = html`<!doctype html>
<html lang="en" data-header-prefix="${headerPrefix}">
<head>
<meta charset="utf-8">
<title>Field</title>
<link rel="stylesheet" href="${file('field.css')}">
</head>
<body>
<script type="module" src="${file('field.js')}"></script>
</body>
</html>
`;
  return {
    path: '/elements/field',
    async answer({ query }) {
      const id = canonicalUuid(query.get('application') ?? '');
      const origins = id === undefined ? [] : await embeddersOf(id);
      const headers = pageHeaders({
        'script-src': "'self'",
        'style-src': "'self'",
        'connect-src': "'self'",
        'frame-ancestors': origins.length === 0 ? "'none'" : origins.join(' '),
      });
      return { status: 200, html: text, headers: { ...headers, ...inIsolatedPages } };
    },
  };
}
