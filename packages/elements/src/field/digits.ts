/** The text of an input, and the index of the character behind its caret. */
export interface Typed {
  text: string;
  caret: number;
}

/** The text as it is shown after an edit. */
export interface Shown extends Typed {
  /** Set if the edit cannot be read in one way only, so that the text is as it was before. */
  isRefused?: boolean;
}

/** Formats the text after an edit. `before` is the formatted text before this edit. */
export type Format = (typed: Typed, before: string) => Shown;

/** The zero of each set of digits that keyboards type besides ASCII: fullwidth, Arabic, Persian, Devanagari, Bengali. */
const zeros = [0xff10, 0x660, 0x6f0, 0x966, 0x9e6];

/** The text with all digits in ASCII. Its length stays the same. */
export function withPlainDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const zero = zeros.find((first) => digit >= String.fromCharCode(first) && digit <= String.fromCharCode(first + 9));
    return zero ? String(digit.charCodeAt(0) - zero) : digit;
  });
}

export function digitsOf(text: string): string {
  return withPlainDigits(text).replace(/\D/g, '');
}

/** The index behind the given number of digits, or the end of the text if no more digits follow. */
export function caretBehind(digits: number, text: string): number {
  let missing = digits;
  for (let at = 0; at < text.length; at++) {
    if (missing === 0 && /\d/.test(text.slice(at))) return at;
    if (/\d/.test(text.charAt(at))) missing--;
  }
  return text.length;
}

/** The text after an edit: `brought` was typed, pasted or filled in between the others. */
export interface Edit {
  head: string;
  brought: string;
  tail: string;
}

export function editOf({ text, caret }: Typed, before: string): Edit {
  const tail = text.slice(caret);
  // A program that sets all text sets the caret, too.
  const kept = before.endsWith(tail) ? before.slice(0, before.length - tail.length) : '';
  let at = 0;
  while (at < caret && at < kept.length && text.charAt(at) === kept.charAt(at)) at++;
  return { head: text.slice(0, at), brought: text.slice(at, caret), tail };
}

/** Undoes an edit that could be read in several ways, because the person cannot see what would be taken. */
export function refuse(typed: Typed, before: string): Shown {
  return { ...takeBack(typed, before), isRefused: true };
}

/**
 * Undoes an edit that makes the text too long. Dropping the last digit instead would silently change a number that the person
 * has already checked. An edit does not change the text behind the caret, so its length gives the former position.
 */
export function takeBack({ text, caret }: Typed, before: string): Typed {
  return { text: before, caret: Math.max(0, before.length - (text.length - caret)) };
}
