import { readRaw } from './raw-client.ts';

const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

test.each<[what: string, text: string, body: string, isComplete: boolean]>([
  ['a whole body', '3\r\nabc\r\n0\r\n\r\n', 'abc', true],
  ['a body that ends in a chunk', '3\r\nabc\r\n5\r\nab', 'abcab', false],
  ['a chunk whose size is no number', '3\r\nabc\r\nwhat?\r\nabc\r\n', 'abc', false],
])('%s is read to its end', (_what, text, body, isComplete) => {
  expect(readRaw(head + text)).toEqual({ status: 200, body, isComplete });
});
