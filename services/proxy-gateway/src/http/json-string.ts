/** The position after the closing quote (RFC 8259 section 7), or -1. A regular expression would exhaust its stack. */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    if (backslashesBefore(text, quote) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** An odd number of backslashes escapes the character at this position. */
export function backslashesBefore(text: string, position: number): number {
  let count = 0;
  while (text[position - 1 - count] === '\\') count++;
  return count;
}
