/**
 * The position behind the quote that ends a string literal of JSON (RFC 8259 section 7); -1 if it does not end in this text.
 * It is not a regular expression, because on a string of megabytes that would run out of the engine's stack.
 * @param from a position inside the literal, behind its opening quote.
 */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    if (backslashesBefore(text, quote) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** How many backslashes in a row stand before this position. An odd number escapes what stands at it. */
export function backslashesBefore(text: string, position: number): number {
  let count = 0;
  while (text[position - 1 - count] === '\\') count++;
  return count;
}
