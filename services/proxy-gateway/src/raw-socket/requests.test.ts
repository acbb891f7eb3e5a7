import { useStack } from '@sluice/testing';
import { readMessages, talk, valuesOf } from '@sluice/testing/raw';
import { closeScenes, openScene } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

/** In the request, `KEYS` stands for the key headers and `\n` for CRLF. */
type RequestRow = [name: string, statuses: number[], request: string];

const close = 'Connection: close\r\n';
const withLine = (line: string) => `${line}\r\nHost: x\r\nKEYS${close}\r\n`;
const withHeaders = (headers: string) => `GET /proxy HTTP/1.1\r\n${headers}KEYS${close}\r\n`;

const lines: [status: number, line: string][] = [
  [200, 'GET /proxy HTTP/1.1'],
  [200, 'GET /proxy HTTP/1.0'],
  [200, 'TRACE /proxy HTTP/1.1'],
  [200, 'QUERY /proxy HTTP/1.1'],
  [200, '\r\nGET /proxy HTTP/1.1'], // RFC 9112 section 2.2 asks for it
  [200, 'GET  /proxy HTTP/1.1'], // allowed (section 3); the destination sees one space
  [400, 'GET /proxy HTTP/2.0'],
  [400, 'GET /proxy HTTP/1.2'],
  [400, 'GET /proxy HTTP/0.9'],
  [400, 'GET /proxy HTTP/1.10'],
  [400, 'GET /proxy HTTP/11.1'],
  [400, 'GET /proxy HTTP/1'],
  [400, 'GET /proxy http/1.1'],
  [400, 'GET /proxy HTTPS/1.1'],
  [400, 'GET /proxy'],
  [400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET /proxy HTTP/1.1'],
  [400, 'GET /proxy HTTP/1.1 '],
  [400, 'GET /proxy HTTP/1.1\rX: y'],
  [400, 'GET /proxy HTTP/1.1\nX: y'],
  [400, ' GET /proxy HTTP/1.1'],
  [400, 'GET\t/proxy HTTP/1.1'],
  [400, 'GET /proxy\tHTTP/1.1'],
  [400, 'get /proxy HTTP/1.1'],
  [400, 'GETX /proxy HTTP/1.1'],
  [400, 'GE\x00T /proxy HTTP/1.1'],
  [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'], // TLS
  [200, 'GET http://x/proxy HTTP/1.1'],
  [200, 'GET HTTPS://X/proxy?a=b HTTP/1.1'],
  [404, 'GET http://x HTTP/1.1'],
  [404, 'GET http://x?/proxy HTTP/1.1'],
  [404, 'GET http://x/proxyfoo HTTP/1.1'],
  [400, 'GET https://evil.test/proxy HTTP/1.1'],
  [400, 'GET http://x:80/proxy HTTP/1.1'],
  [400, 'GET http://evil@x/proxy HTTP/1.1'],
  [400, 'GET http:///proxy HTTP/1.1'],
  [400, 'GET http:/proxy HTTP/1.1'],
  [400, 'GET ftp://x/proxy HTTP/1.1'],
  [400, 'GET x:80 HTTP/1.1'],
  [400, 'CONNECT x:80 HTTP/1.1'],
  [400, 'CONNECT /proxy HTTP/1.1'],
  [400, 'OPTIONS * HTTP/1.1'],
  [400, 'GET * HTTP/1.1'],
  [400, 'GET ?a=b HTTP/1.1'],
  [400, 'GET proxy HTTP/1.1'],
  [400, 'GET /proxy/a b HTTP/1.1'],
  [400, 'GET /proxy/\x00 HTTP/1.1'],
  [400, 'GET /proxy/\x7f HTTP/1.1'],
  [400, 'GET /proxy/\xff HTTP/1.1'],
  [400, 'GET /proxy/\t HTTP/1.1'],
  [400, 'GET /proxy/#fragment HTTP/1.1'],
  [404, 'GET //proxy HTTP/1.1'],
  [404, 'GET /./proxy HTTP/1.1'],
  [404, 'GET /x/../proxy HTTP/1.1'],
  [404, 'GET /%70roxy HTTP/1.1'],
  [404, 'GET /proxy\\..\\x HTTP/1.1'],
  [404, 'GET /proxy%2fx HTTP/1.1'],
  [404, 'GET /proxy;x HTTP/1.1'],
];

const headers: [status: number, name: string, block: string][] = [
  [200, 'Host empty', 'Host:\r\n'],
  [200, 'Host with port', 'Host: a.test:8080\r\n'],
  [200, 'Host IPv6', 'Host: [::1]:8080\r\n'],
  [400, 'no Host', ''],
  [400, 'two Host lines alike', 'Host: x\r\nHost: x\r\n'],
  [400, 'two Host lines', 'Host: x\r\nHost: evil.test\r\n'],
  [400, 'two Host lines, other case', 'Host: x\r\nhOST: evil.test\r\n'],
  [400, 'two hosts in a line', 'Host: x, evil.test\r\n'],
  [400, 'two hosts, comma only', 'Host: x,evil.test\r\n'],
  [400, 'Host with user', 'Host: a@evil.test\r\n'],
  [400, 'Host with space', 'Host: x evil.test\r\n'],
  [400, 'Host with path', 'Host: x/evil\r\n'],
  [400, 'Host with URL', 'Host: http://x\r\n'],
  [400, 'Host with bad port', 'Host: x:port\r\n'],
  [400, 'Host bracket open', 'Host: [::1\r\n'],
  [400, 'Host with Latin-1', 'Host: \xe9.test\r\n'],
  [400, 'Host folded', 'Host: x\r\n\tevil.test\r\n'],
  [400, 'Host, space before colon', 'Host : x\r\n'],
  [400, 'Host after a space', ' Host: x\r\n'],
  [400, 'first line folded', '\tX: y\r\nHost: x\r\n'],
  [400, 'obs-fold', 'Host: x\r\nX: a\r\n b\r\n'],
  [400, 'obs-fold, empty first', 'Host: x\r\nX:\r\n\tb\r\n'],
  [400, 'space before colon', 'Host: x\r\nX : a\r\n'],
  [400, 'no colon', 'Host: x\r\nX\r\n'],
  [400, 'no name', 'Host: x\r\n: a\r\n'],
  [400, 'space in name', 'Host: x\r\nX Y: a\r\n'],
  [400, 'parenthesis in name', 'Host: x\r\nX(: a\r\n'],
  [400, 'NUL in name', 'Host: x\r\nX\x00: a\r\n'],
  [400, 'Latin-1 in name', 'Host: x\r\nX\xe9: a\r\n'],
  [400, 'NUL in value', 'Host: x\r\nX: a\x00b\r\n'],
  [400, 'control in value', 'Host: x\r\nX: a\x01b\r\n'],
  [400, 'DEL in value', 'Host: x\r\nX: a\x7fb\r\n'],
  [400, 'bare CR in value', 'Host: x\r\nX: a\rb\r\n'],
  [400, 'bare LF in value', 'Host: x\r\nX: a\nY: b\r\n'],
  [400, 'bare LF after Host', 'Host: x\nX: a\r\n'],
  [400, 'CR CR LF', 'Host: x\r\r\n'],
  [200, 'Latin-1 in value', 'Host: x\r\nX: \xe9\r\n'],
  [200, 'tab in value', 'Host: x\r\nX: a\tb\r\n'],
  [200, 'space around value', 'Host: x\r\nX: \t a \t \r\n'.replace(' \t \r', ' \r')],
  [200, 'underscored keys are other headers', 'Host: x\r\nSVC_API_KEY: y\r\nSVC_PROXY_KEY: y\r\n'],
  [400, 'two content types', 'Host: x\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n'],
  [400, 'two proxy keys', 'Host: x\r\nSVC-PROXY-KEY: other\r\n'],
  [401, 'two API keys', 'Host: x\r\nSVC-API-KEY: other\r\n'],
  [200, '100 headers', `Host: x\r\n${'X: y\r\n'.repeat(96)}`],
  [431, '101 headers', `Host: x\r\n${'X: y\r\n'.repeat(97)}`],
  [431, '3,000 headers', `Host: x\r\n${'X:\r\n'.repeat(3000)}`],
  [200, 'block under 16 KiB', `Host: x\r\nX: ${'y'.repeat(15_900)}\r\n`],
  [431, 'block over 16 KiB', `Host: x\r\nX: ${'y'.repeat(16_400)}\r\n`],
  [431, 'name over 16 KiB', `Host: x\r\n${'X'.repeat(16_400)}: y\r\n`],
  [417, 'an expectation nobody meets', 'Host: x\r\nExpect: 200-ok\r\n'],
  [417, 'two expectations', 'Host: x\r\nExpect: 100-continue, 200-ok\r\n'],
  [417, 'an empty expectation', 'Host: x\r\nExpect:\r\n'],
  [501, 'WebSocket', 'Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'],
  [501, 'WebSocket among others', 'Host: x\r\nUpgrade: h2c, WebSocket/13\r\nConnection: Upgrade\r\n'],
  [200, 'h2c', 'Host: x\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n'],
  [200, 'TLS', 'Host: x\r\nUpgrade: TLS/1.2\r\nConnection: Upgrade\r\n'],
  [200, 'three loops', 'Host: x\r\nCDN-Loop: sluice, other, Sluice;a=b, sluice:443\r\n'],
  [508, 'four loops', 'Host: x\r\nCDN-Loop: sluice, other, Sluice;a=b, sluice:443, SLUICE\r\n'],
  [508, 'four loops on several lines', `Host: x\r\n${'CDN-Loop: sluice\r\n'.repeat(4)}`],
  [
    200,
    'loops of others',
    'Host: x\r\nCDN-Loop: a, b, c, d, sluicer, x.sluice, a;b="sluice, sluice, sluice, sluice"\r\n',
  ],
  [200, 'Upgrade that is not nominated', 'Host: x\r\nUpgrade: h2c\r\n'],
];

const requestRows: RequestRow[] = [
  ...lines.map(([status, line]): RequestRow => [JSON.stringify(line), [status], withLine(line)]),
  ...headers.map(([status, name, block]): RequestRow => [name, [status], withHeaders(block)]),
  ['a target of 20,000 characters', [431], withLine(`GET /proxy/${'a'.repeat(20_000)} HTTP/1.1`)],
  ['HTTP/1.0 without Host', [200], `GET /proxy HTTP/1.0\r\nKEYS\r\n`],
  ['HTTP/1.0 ignores expectations', [200], `GET /proxy HTTP/1.0\r\nExpect: 200-ok\r\nKEYS\r\n`],
  ['HTTP/1.0 with chunks', [400], `POST /proxy HTTP/1.0\r\nHost: x\r\nKEYSTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
];

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

test.each(requestRows)('%s is %j', async (_, [status = 0], request) => {
  const { destination, keys } = await openScene(gateway.current);
  const { text, hasEnded } = await talk(gateway.current.url, request.replace('KEYS', keys));
  const { messages: all, rest } = readMessages(text, { hasEnded });
  const messages = all.filter(({ start }) => !start.startsWith('HTTP/1.1 1'));
  expect({ statuses: messages.map(({ start }) => Number(start.split(' ')[1])), rest, hasEnded }).toEqual({
    statuses: [status],
    rest: '',
    hasEnded: true,
  });
  expect(destination.rest()).toEqual([]);
  expect(destination.texts.join('')).not.toMatch(/SVC-|evil/i);
  if (status === 200) {
    expect(destination.seen()).toHaveLength(1);
    expect(valuesOf(destination.seen()[0]?.lines ?? [], 'host')).toEqual([new URL(destination.url).host]);
  } else {
    expect(destination.texts).toEqual([]);
    expect(JSON.parse(messages[0]?.body ?? '')).toMatchObject({
      proxy_error: { status },
      error: { message: expect.any(String) },
    });
  }
});
