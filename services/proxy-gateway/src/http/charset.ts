const parameter = /[;\s]charset\s*=\s*["']?([^"';\s]*)/gi;
/** In these each byte below 128 is the character of ASCII, also behind other bytes. */
const beyondAscii = /^(utf-?8|(us-)?ascii|iso-?8859-\d+|latin-?\d|windows-125\d|koi8-[ru]|)$/i;

/** The charset that a `Content-Type` names, if a reader could take ASCII in the body for something else. */
export function foreignCharset(contentType: string | undefined): string | undefined {
  for (const [, name = ''] of contentType?.matchAll(parameter) ?? []) if (!beyondAscii.test(name)) return name;
  return undefined;
}
