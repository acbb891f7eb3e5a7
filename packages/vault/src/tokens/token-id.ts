const refused = /[#/\\+?[\]|&=%<>{}^]/;

/** Nearly all ids, such as UUIDs, pass this quick check. */
const plain = /^[\w.~-]{3,400}$/;

export const tokenIdForm =
  'must have 3 to 400 characters, no spaces at its ends, no control characters, none of # / \\ + ? [ ] | & = % < > { } ^, and not begin with config:';

export function isTokenId(text: string): boolean {
  if (plain.test(text)) return true;
  if (text.length < 3 || text.length > 800 || text !== text.trim() || !text.isWellFormed()) return false;
  const { length } = Array.from(text);
  return length >= 3 && length <= 400 && !refused.test(text) && !/\p{Cc}/u.test(text);
}

/** What begins with `config:` names a value of a Proxy's configuration. Older tokens may be named so. */
export function isNewTokenId(text: string): boolean {
  return isTokenId(text) && !text.startsWith('config:');
}

/** For turns of requests that lock the token. */
export function rowOfToken(id: string): string {
  return `token/${id}`;
}
