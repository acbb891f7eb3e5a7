import { listen } from '@sluice/service-runtime';
import { useStack } from '@sluice/testing';
import { exchangeRaw } from '@sluice/testing/raw';
import { pino } from 'pino';
import { createHttpServer, expressApi, operationsOf } from './index.ts';

const served: string[] = [];
beforeEach(() => served.splice(0));

const port = useStack(async (stack) => {
  const operation = operationsOf<object>();
  const app = expressApi({
    operations: ['/x', '/y', '/evil'].map((path) =>
      operation({
        id: path,
        method: 'get',
        path,
        summary: path,
        tag: 'Proxies',
        response: { 200: { type: 'object' } },
        handle: async () => {
          served.push(path);
          return { path };
        },
      }),
    ),
    context: {},
    authenticate: async () => ({ id: 'a', tenantId: 't', type: 'private', permissions: [], rules: [] }),
    headerPrefix: 'SVC',
    log: pino({ level: 'silent' }),
  });
  return { number: await listen(createHttpServer(app), { host: '127.0.0.1', port: 0, stack }) };
});

const exchange = (...pieces: string[]) => exchangeRaw(port.current.number, ...pieces);

const request = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${more}\r\n`;
const noHost = 'GET /x HTTP/1.1\r\nConnection: close\r\n\r\n';

test.each([
  ['no Host', noHost, 400],
  ['two Hosts', request('GET /x', 'Host: other\r\n'), 400],
  ['an expectation that nobody meets', request('GET /x', 'Expect: 200-ok\r\n'), 417],
  ['HTTP/2.0', 'GET /x HTTP/2.0\r\nHost: h\r\nConnection: close\r\n\r\n', 400],
  ['a URL of another host', request('GET http://other/x'), 400],
  ['CONNECT', request('CONNECT h:1'), 400],
  ['an asterisk', request('OPTIONS *'), 400],
])('%s is answered with a problem document, and does not reach the service', async (_name, bytes, status) => {
  const [head = '', body = ''] = (await exchange(bytes)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toContain('application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ status, detail: expect.any(String) });
  expect(served).toEqual([]);
});

test.each(['GET /x', 'GET http://h/x', 'GET HTTP://H/x/'])('%s reaches the service', async (line) => {
  expect(await exchange(request(line))).toMatch(/^HTTP\/1\.1 200 .*\{"path":"\/x"\}$/s);
});

test('HTTP/1.0 needs no Host', async () => {
  expect(await exchange('GET /x HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('the body of a request whose head came behind an offer of an upgrade is no request', async () => {
  const evil = 'GET /evil HTTP/1.1\r\nHost: h\r\n\r\n';
  const offer = 'GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
  const post = `POST /y HTTP/1.1\r\nHost: h\r\nContent-Length: ${evil.length}\r\n\r\n`;
  const answer = await exchange(offer + post, evil);
  expect(answer.match(/"path":"[^"]+"/g)).toEqual(['"path":"/x"']);
  expect(served).toEqual(['/x']);
});
