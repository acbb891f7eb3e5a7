import { readRaw } from './raw-client.ts';

test.each([
  ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', true, 'ok'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok', false, 'ok'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', true, 'ok'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n', false, 'ok'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok', false, 'ok'],
  ['HTTP/1.1 200 OK\r\n', false, ''],
])('%j is read as its framing says', (text, isComplete, body) => {
  expect(readRaw(text)).toMatchObject({ isComplete, body });
});
