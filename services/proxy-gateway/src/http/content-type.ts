/**
 * `none` is JSON if it parses. In `multipart` the text parts are read. `opaque` passes unchanged. `json-lines` are
 * several JSON texts: expressions are read as in JSON, and transforms see text. In `text` nothing is escaped.
 */
export type ContentKind =
  | 'json'
  | 'json-lines'
  | 'form'
  | 'multipart'
  | 'xml'
  | 'html'
  | 'csv'
  | 'text'
  | 'none'
  | 'opaque';

/** The first match counts. The API reference has the same table, in `infra/openapi`. */
const kinds: readonly [RegExp, ContentKind][] = [
  [/^application\/(x-)?(nd|l)json$|^application\/(x-)?json(l|lines|-seq)$/, 'json-lines'],
  [/\+json-seq$|^application\/stream\+json$/, 'json-lines'],
  [/^(application|text)\/(x-)?json$|\+json$|^application\/x-amz-json-/, 'json'],
  [/^application\/x-www-form-urlencoded$/, 'form'],
  [/^multipart\/form-data$/, 'multipart'],
  [/\/xml$|\+xml$/, 'xml'],
  [/^text\/html$/, 'html'],
  [/^text\/csv$/, 'csv'],
  [/^text\/|\+yaml$|^application\/(graphql|(x-)?yaml|toml|x-ofx)$/, 'text'],
];

/** RFC 9110 section 8.3. The type ends at a blank too, because clients forget the semicolon: `application/json charset=utf-8`. */
export function contentKind(contentType: string | undefined): ContentKind {
  if (contentType === 'application/json') return 'json';
  if (contentType === undefined || contentType.trim() === '') return 'none';
  const [type = ''] = contentType.trim().toLowerCase().split(/[;\s]/, 1);
  return kinds.find(([pattern]) => pattern.test(type))?.[1] ?? 'opaque';
}
