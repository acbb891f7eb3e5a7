import { request as httpRequest, type IncomingMessage } from 'node:http';
import { generateApiKey } from '@sluice/credentials';
import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => startTestGateway(stack));

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Each with a text that is a key, or only looks like one. */
const lines: [string, (text: string) => [name: string, value: string]][] = [
  ['Authorization: Bearer', (text) => ['Authorization', `Bearer ${text}`]],
  ['Authorization: token', (text) => ['Authorization', `token ${text}`]],
  ['Authorization without a scheme', (text) => ['Authorization', text]],
  ['Basic, as user', (text) => ['Authorization', basic(text, '')]],
  ['Basic, as password', (text) => ['Authorization', basic('x-access-token', text)]],
  ['Basic elsewhere', (text) => ['X-Auth', `as Basic ${Buffer.from(`a:${text}`).toString('base64')}`]],
  ['X-Api-Key', (text) => ['X-Api-Key', text]],
  ['Cookie', (text) => ['Cookie', `a=b; key=${text}; c=d`]],
  ['a longer text', (text) => ['X-Log', `svc_svc_${text}zzz`]],
  ['a list', (text) => ['X-List', `a, ${text}, b`]],
  ['a name', (text) => [`X-${text}`, 'a']],
  ['User-Agent', (text) => ['User-Agent', `tool/1.0 (${text})`]],
  ['tracestate', (text) => ['Tracestate', `a=${text}`]],
  ['CDN-Loop', (text) => ['CDN-Loop', text]],
  ['our header for Keep-Alive', (text) => ['SVC-PROXY-KEEP-ALIVE', text]],
  ['our header for Connection', (text) => ['SVC-PROXY-CONNECTION', text]],
];

/** Copies each header under another name, and the body's text into one more. */
const copying = `module.exports = async ({ args }) => ({
  headers: {
    ...args.headers,
    ...Object.fromEntries(Object.entries(args.headers).map(([name, value]) => ['x-copy-' + name, 'copied ' + value])),
    'x-body': args.body.text,
  },
});`;
const proxies: [string, Partial<ProxyParts>][] = [
  ['a Proxy', {}],
  ['a request transform that copies headers', { requestTransform: copying }],
];
const bodies: [string, string, (text: string) => string][] = [
  ['a held body', 'application/json', (text) => JSON.stringify({ text: `from the body: ${text}` })],
  ['a streamed body', 'application/octet-stream', () => 'bytes'],
];

interface Sent {
  pathName: string;
  headers: [string, string][];
  body: string;
  trailers: [string, string][];
}

/** The whole head that the destination received, with its trailers, as text. */
async function received({ pathName, headers, body, trailers }: Sent): Promise<string> {
  const { url, destination } = gateway.current;
  destination.seen.length = 0;
  const seen: string[] = [];
  destination.answer = ({ rawTrailers }, response) => {
    seen.push(...rawTrailers);
    response.end();
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(`${url}/routes/${pathName}`, { method: 'POST', headers: headers.flat() });
    request.on('response', (response) => resolve(response.resume())).on('error', reject);
    request.addTrailers(trailers);
    request.end(body);
  });
  expect(answer.statusCode).toBe(200);
  return [...(destination.seen[0]?.rawHeaders ?? []), ...seen].join('\n');
}

let count = 0;

async function open(parts: Partial<ProxyParts>) {
  const { tenant, destination } = gateway.current;
  count += 1;
  const pathName = `shop-${count}`;
  await tenant.proxy({
    destination: destination.url,
    pathName,
    acceptKeyAs: ['bearer', 'x-api-key', 'basic'],
    ...parts,
  });
  const { key } = await tenant.application();
  return { pathName, key };
}

/** Where Basic holds it, also decoded. */
function holds(head: string, text: string): boolean {
  const decoded = [...head.matchAll(/[A-Za-z0-9+/=]{20,}/g)].map(([coded]) => Buffer.from(coded, 'base64').toString());
  return head.toLowerCase().includes(text.toLowerCase()) || decoded.some((one) => one.includes(text));
}

describe.each(proxies)('through %s', (_proxy, parts) => {
  describe.each(bodies)('with %s', (_body, type, bodyOf) => {
    const send = async (line: (text: string) => [string, string], text: string) => {
      const { pathName, key } = await open(parts);
      const headers: [string, string][] = [
        ['Host', 'localhost'],
        ['SVC-API-KEY', key],
        ['Content-Type', type],
        ['Transfer-Encoding', 'chunked'],
        line(text),
      ];
      const trailers: [string, string][] = [
        ['X-Trailer', text],
        ['Authorization', `Bearer ${text}`],
      ];
      return { key, head: await received({ pathName, headers, body: bodyOf(text), trailers }) };
    };

    test.each(lines)('no key goes on in %s', async (_, line) => {
      const text = generateApiKey('test', 'private');
      const { head, key } = await send(line, text);
      expect([holds(head, text), holds(head, key)]).toEqual([false, false]);
    });

    test.each(lines)('a text that is no key goes on in %s', async (_, line) => {
      const key = generateApiKey('test', 'private');
      const text = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
      expect(holds((await send(line, text)).head, text)).toBe(true);
    });
  });
});

test('headers that the Proxy sets stay, with a key for the destination that is another Sluice', async () => {
  const theirs = generateApiKey('test', 'private');
  const { pathName, key } = await open({ requestHeaders: { 'X-Api-Key': theirs } });
  const headers: [string, string][] = [
    ['Host', 'localhost'],
    ['X-Api-Key', key],
  ];
  const head = await received({ pathName, headers, body: '', trailers: [] });
  expect([holds(head, theirs), holds(head, key)]).toEqual([true, false]);
});
