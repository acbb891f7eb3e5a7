const parameter = /(?:^|[;,\s])charset\s*=\s*("[^"]*"|[^\s;,]*)/gi;
const xmlDeclaration = /^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?\sencoding\s*=\s*(["'][^"'>]*)/;
const known: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii']);

/** The charset that a `Content-Type` declares, if it is neither UTF-8 nor a part of it. Read as loosely as anyone may. */
export function foreignCharset(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined;
  for (const [, value] of contentType.matchAll(parameter)) {
    const charset = foreign(value);
    if (charset !== undefined) return charset;
  }
  return undefined;
}

/** {@link foreignCharset} of the declaration with which an XML text begins. */
export function charsetOfXml(latin1: string): string | undefined {
  return foreign(xmlDeclaration.exec(latin1)?.[1]);
}

function foreign(value = ''): string | undefined {
  const charset = value.replace(/^["'\s]+|["'\s]+$/g, '');
  return known.has(charset.toLowerCase()) ? undefined : charset;
}
