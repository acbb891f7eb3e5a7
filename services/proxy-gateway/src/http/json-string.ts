/**
 * The position after the quote that ends a JSON string literal (RFC 8259 section 7); -1 if it does not end in this
 * text. Not a regular expression, which would exhaust the engine's stack on strings of megabytes.
 * @param from a position inside the literal, after its opening quote.
 */
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
