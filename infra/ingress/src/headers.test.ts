import { requestHeaders, responseHeaders } from './headers.ts';

const client = '192.0.2.7';
/** Less the address, which always comes. */
const to = (raw: string[], method = 'GET') =>
  withoutAddress(requestHeaders(['Host', 'sluice', ...raw], { method, host: 'upstream', client }));

function withoutAddress(headers: string[]): string[] {
  const at = headers.indexOf('X-Forwarded-For');
  expect(headers.slice(at, at + 2)).toEqual(['X-Forwarded-For', client]);
  return headers.toSpliced(at, 2);
}

describe('requestHeaders', () => {
  test('case, order and repetition stay as they were sent', () => {
    const raw = ['X-B', '1', 'x-a', '2', 'X-B', '3', 'Authorization', 'Basic x'];
    expect(to(raw)).toEqual(['Host', 'sluice', ...raw]);
  });

  test('what is about the connection is dropped, nominated headers included', () => {
    const raw = [
      'Connection',
      'close, X-Mine',
      'x-mine',
      '1',
      'Keep-Alive',
      'timeout=5',
      'TE',
      'trailers',
      'Trailer',
      'x',
    ];
    expect(to(raw)).toEqual(['Host', 'sluice']);
  });

  test('framing and host cannot be nominated away', () => {
    const raw = ['Connection', 'content-length, host, transfer-encoding', 'Content-Length', '3'];
    expect(to(raw, 'POST')).toEqual(['Host', 'sluice', 'Content-Length', '3']);
  });

  test('a WebSocket is passed on, for the service to refuse', () => {
    const raw = ['Upgrade', 'h2c, WebSocket', 'Connection', 'keep-alive, Upgrade'];
    expect(to(raw)).toEqual(['Host', 'sluice', 'Connection', 'Upgrade', 'Upgrade', 'websocket']);
  });

  test.each(['h2c', 'TLS/1.2', 'websocketx'])('an offer of %s ends here', (protocol) => {
    expect(to(['Connection', 'Upgrade, HTTP2-Settings', 'Upgrade', protocol, 'HTTP2-Settings', 'AAMA'])).toEqual([
      'Host',
      'sluice',
    ]);
  });

  test('an Upgrade that Connection does not nominate asks for nothing', () => {
    expect(to(['Upgrade', 'websocket'])).toEqual(['Host', 'sluice']);
  });

  test('a POST without a body has length 0, a GET says nothing', () => {
    expect(to([], 'POST')).toEqual(['Host', 'sluice', 'Content-Length', '0']);
    expect(to([], 'GET')).toEqual(['Host', 'sluice']);
  });

  test('an HTTP/1.0 request without Host gets one', () => {
    expect(withoutAddress(requestHeaders([], { method: 'GET', host: 'upstream', client }))).toEqual([
      'Host',
      'upstream',
    ]);
  });

  test('what a client says of its address is replaced', () => {
    const raw = ['x-forwarded-for', '203.0.113.9', 'X-FORWARDED-FOR', '203.0.113.10', 'X-A', '1'];
    expect(to(raw)).toEqual(['Host', 'sluice', 'X-A', '1']);
  });
});

test('responseHeaders leaves the framing of unknown lengths to the connection, and keeps every Set-Cookie', () => {
  const cookies = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'];
  expect(responseHeaders([...cookies, 'Transfer-Encoding', 'chunked', 'Connection', 'keep-alive'])).toEqual(cookies);
});
