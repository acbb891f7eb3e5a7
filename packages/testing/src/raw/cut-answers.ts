/** What follows the status line of an answer, and lacks its end: where it ends, and what was sent until then. */
export const cutAnswers: readonly (readonly [where: string, part: string])[] = [
  ['by its length', 'Content-Length: 10\r\n\r\n'],
  ['by its length', 'Content-Length: 10\r\n\r\nhello'],
  ['in a chunk', 'Transfer-Encoding: chunked\r\n\r\na\r\nhello'],
  ['after the size of a chunk', 'Transfer-Encoding: chunked\r\n\r\na'],
  ['between chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ['before the last line', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'],
];
