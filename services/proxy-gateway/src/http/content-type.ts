/** `none` is JSON if it parses. Of `multipart` the text parts are read. `opaque` passes unchanged. */
export type ContentKind = 'json' | 'form' | 'multipart' | 'xml' | 'text' | 'none' | 'opaque';

/** Follows RFC 9110 section 8.3. */
export function contentKind(contentType: string | undefined): ContentKind {
  if (contentType === 'application/json') return 'json';
  if (contentType === undefined || contentType.trim() === '') return 'none';
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^(application|text)\/json$|\+json$|^application\/(x-)?(nd|l)?json(l|lines)?$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  if (/\/xml$|\+xml$|^text\/html$/.test(type)) return 'xml';
  if (type.startsWith('text/')) return 'text';
  return 'opaque';
}
