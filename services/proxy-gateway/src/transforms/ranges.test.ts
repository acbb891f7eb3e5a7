import { useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** A part of an answer would pass what the code of a response transform was written to hide. */
const gateway = useStack((stack) => startTestGateway(stack));
const number = '4242424242424242';
const whole = JSON.stringify({ number });
const masking = `module.exports = async ({ args }) => ({ body: { number: 'XXXX' + args.body.number.slice(-4) } });`;
const identity = 'module.exports = async ({ args }) => ({ body: args.body, headers: args.headers });';
const headersOnly = 'module.exports = async ({ args }) => ({ headers: args.headers });';
const setsRange = `module.exports = async ({ args }) => ({ headers: { ...args.headers, Range: 'bytes=0-12', 'if-range': 'x' } });`;

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

/** Honours `Range` of one and of two parts, whatever `If-Range` says. */
function serveParts(type = 'application/json'): void {
  gateway.current.destination.answer = ({ headers: { range } }, response) => {
    const parts = range?.match(/\d+-\d+/g);
    if (!parts) return response.writeHead(200, { 'Content-Type': type, 'Accept-Ranges': 'bytes' }).end(whole);
    const pieces = parts.map((part) => whole.slice(Number(part.split('-')[0]), Number(part.split('-')[1]) + 1));
    const [first] = parts;
    if (parts.length === 1) {
      const head = { 'Content-Type': type, 'Content-Range': `bytes ${first}/${whole.length}` };
      return response.writeHead(206, head).end(pieces[0]);
    }
    return response
      .writeHead(206, { 'Content-Type': 'multipart/byteranges; boundary=x' })
      .end(pieces.join('\r\n--x\r\n'));
  };
}

interface Sent {
  headers?: Record<string, string>;
  method?: string;
  body?: string;
}

async function invoke(parts: Omit<ProxyParts, 'destination'>, { headers = {}, ...sent }: Sent = {}) {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const answer = await fetch(`${url}/proxy`, { ...sent, headers: { 'SVC-PROXY-KEY': key, ...headers } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const seen = () => gateway.current.destination.seen.at(-1)?.headers ?? {};

describe('with a response transform no range is asked for', () => {
  test.each<[string, Record<string, string>]>([
    ['one', { Range: 'bytes=0-12' }],
    ['the rest', { range: 'bytes=13-28' }],
    ['two', { Range: 'bytes=0-12,13-28' }],
    ['one if it is the same', { Range: 'bytes=0-12', 'If-Range': '"1"' }],
    ['one, with a connection of its own', { Range: 'bytes=0-12', 'SVC-PROXY-KEEP-ALIVE': 'timeout=5' }],
  ])('%s', async (_, headers) => {
    serveParts();
    const answer = await invoke({ responseTransform: masking }, { headers });
    expect([answer.status, answer.text]).toEqual([200, '{"number":"XXXX4242"}']);
    expect([seen().range, seen()['if-range']]).toEqual([undefined, undefined]);
  });

  test('nor by a request transform', async () => {
    serveParts();
    const answer = await invoke({ requestTransform: setsRange, responseTransform: masking });
    expect([answer.status, answer.text]).toEqual([200, '{"number":"XXXX4242"}']);
    expect([seen().range, seen()['if-range']]).toEqual([undefined, undefined]);
  });

  test.each(['application/json', 'text/plain', 'application/octet-stream', 'image/png', undefined])(
    'and a part of type %s that comes nevertheless is 502',
    async (type) => {
      gateway.current.destination.answer = (_, response) =>
        response
          .writeHead(206, { ...(type && { 'Content-Type': type }), 'Content-Range': 'bytes 0-12/29' })
          .end('{"a":1}');
      for (const headers of [{}, { 'SVC-PROXY-KEEP-ALIVE': 'timeout=5' }]) {
        const answer = await invoke({ responseTransform: identity }, { headers });
        expect([answer.status, JSON.parse(answer.text).proxy_error.status]).toEqual([502, 502]);
        expect(answer.text).not.toContain('{"a":1}');
      }
    },
  );

  test('the control: without a response transform parts pass as they are', async () => {
    serveParts();
    const headers = { Range: 'bytes=0-12', 'If-Range': '"1"' };
    for (const parts of [{}, { requestTransform: headersOnly }]) {
      const answer = await invoke(parts, { headers });
      expect([answer.status, answer.text, seen()['if-range']]).toEqual([206, whole.slice(0, 13), '"1"']);
      expect(answer.headers.get('content-range')).toBe(`bytes 0-12/${whole.length}`);
    }
  });
});

describe('an answer that was written anew', () => {
  test('loses Content-Range and Accept-Ranges, unless the transform sets others', async () => {
    gateway.current.destination.answer = (_, response) => {
      const ranges = { 'Content-Range': 'bytes 0-12/29', 'Accept-Ranges': 'bytes' };
      response.writeHead(200, { 'Content-Type': 'application/json', ...ranges }).end('{"a":1}');
    };
    const { headers } = await invoke({ responseTransform: identity });
    expect([headers.get('content-range'), headers.get('accept-ranges')]).toEqual([null, null]);
    const sets = `module.exports = async ({ args }) => ({ body: {}, headers: { 'content-range': 'bytes 0-1/2', 'accept-ranges': 'none' } });`;
    const own = await invoke({ responseTransform: sets });
    expect([own.headers.get('content-range'), own.headers.get('accept-ranges')]).toEqual(['bytes 0-1/2', 'none']);
  });
});

describe('a request with Content-Range', () => {
  const headers = { 'Content-Type': 'application/json', 'Content-Range': 'bytes 0-6/29' };
  const body = '{"a":1}';
  const change = (text: string) => `module.exports = async () => ({ body: ${text} });`;

  test.each([
    ['longer', change('{ a: 10 }')],
    ['shorter', change('{}')],
    ['longer though it removes the header', `module.exports = async () => ({ body: { a: 10 }, headers: {} });`],
  ])('is 400 where a transform makes the body %s', async (_, requestTransform) => {
    const before = gateway.current.destination.seen.length;
    const answer = await invoke({ requestTransform }, { method: 'PUT', headers, body });
    expect([answer.status, JSON.parse(answer.text).proxy_error.detail]).toEqual([
      400,
      expect.stringContaining('Content-Range'),
    ]);
    expect(gateway.current.destination.seen).toHaveLength(before);
  });

  test.each([
    ['as long', change('{ a: 2 }'), '{"a":2}'],
    ['as it is', headersOnly, body],
  ])('goes on where it leaves the body %s', async (_, requestTransform, sent) => {
    expect((await invoke({ requestTransform }, { method: 'PUT', headers, body })).status).toBe(200);
    expect([gateway.current.destination.seen.at(-1)?.body, seen()['content-range']]).toEqual([sent, 'bytes 0-6/29']);
  });

  test('the control: without the header the body may have any length', async () => {
    const { 'Content-Range': _, ...plain } = headers;
    const requestTransform = change('{ a: 10 }');
    expect((await invoke({ requestTransform }, { method: 'PUT', headers: plain, body })).status).toBe(200);
  });
});
