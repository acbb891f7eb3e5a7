/** Control characters, and those that change the order in which text is read: either could make a terminal lie. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const dangerous = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text of unknown origin for a single line of a terminal. */
export function escapeLine(text: string): string {
  return text.replace(dangerous, unicodeEscape);
}

/** The same, with its lines and tabs. */
export function escapeText(text: string): string {
  return text.replace(dangerous, (character) => (/[\n\t]/.test(character) ? character : unicodeEscape(character)));
}

/** JSON that means the same and is safe to look at: within strings such characters have an escape of their own. */
export function toSafeJson(value: unknown, indent?: number): string {
  return escapeText(JSON.stringify(value, undefined, indent) ?? 'null');
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
