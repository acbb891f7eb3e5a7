/** Control characters, and those that change the reading order, could make a terminal show something false. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const dangerous = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function escapeLine(text: string): string {
  return text.replace(dangerous, unicodeEscape);
}

export function escapeText(text: string): string {
  return text.replace(dangerous, (character) => (/[\n\t]/.test(character) ? character : unicodeEscape(character)));
}

/** Equivalent JSON that is safe on a terminal, because JSON strings may escape any character. */
export function toSafeJson(value: unknown, indent?: number): string {
  return escapeText(JSON.stringify(value, undefined, indent) ?? 'null');
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
