import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const limitBytes = 64 * 1024;
const gateway = useStack(async (stack) => {
  const test = await startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` });
  const [token, { key }, { key: stranger }, proxy] = await Promise.all([
    test.tenant.token({ data: 'é' }),
    test.tenant.application(),
    test.tenant.application({
      permissions: [],
      rules: [{ priority: 1, container: '/x/', permissions: ['token:use'], transform: 'redact' }],
    }),
    test.tenant.proxy({ destination: test.destination.url }),
  ]);
  return { ...test, token, key, stranger, proxy };
});

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

async function send(
  type: string,
  body: Uint8Array<ArrayBuffer>,
  { key = gateway.current.key, isChunked = false } = {},
) {
  const headers = { 'SVC-PROXY-KEY': gateway.current.proxy.key, 'SVC-API-KEY': key, 'Content-Type': type };
  const sent = isChunked ? new Blob([body]).stream() : body;
  const answer = await fetch(`${gateway.current.url}/proxy`, { method: 'POST', headers, body: sent, duplex: 'half' });
  const text = await answer.text();
  const detail = answer.status === 200 ? undefined : JSON.parse(text).proxy_error.detail;
  return { status: answer.status, detail };
}

const part = (type: string, content: string) =>
  `--Bo\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--Bo--\r\n`;

/** Type, body, and the charset that the refusal names. */
const foreign: [type: string, body: string, charset: string][] = [
  ['text/plain; charset=iso-8859-1', 'caf\xe9 TOKEN', 'iso-8859-1'],
  ['text/plain; charset=iso-8859-1', 'cafe TOKEN', 'iso-8859-1'],
  ['application/json; charset=gbk', '{"a":"\xd6\xd0 TOKEN"}', 'gbk'],
  ['application/json; charset="Big5"', '["\\u007b\\u007bTOKEN', 'Big5'],
  ['application/vnd.api+json;charset=Shift_JIS', '["TOKEN"]', 'Shift_JIS'],
  ['application/x-www-form-urlencoded; charset=windows-1252', 'a=TOKEN', 'windows-1252'],
  ['text/xml; charset=utf-16', '<a>TOKEN</a>', 'utf-16'],
  ['application/xml', '<?xml version="1.0" encoding="GBK"?><a>TOKEN</a>', 'GBK'],
  ['multipart/form-data; boundary=Bo; charset=gbk', part('text/plain', 'TOKEN'), 'gbk'],
  ['multipart/form-data; boundary=Bo', part('text/plain; charset=gbk', 'TOKEN'), 'gbk'],
];

const notUtf8: [type: string, body: string][] = [
  ['text/plain', 'caf\xe9 TOKEN'],
  ['application/json', '{"a":"caf\xe9 TOKEN"}'],
  ['application/x-www-form-urlencoded', 'a=caf%E9+TOKEN'],
  ['multipart/form-data; boundary=Bo', part('text/plain', 'caf\xe9 TOKEN')],
];

const alike: [type: string, body: string, expected: string][] = [
  ['text/plain; charset=UTF-8', 'TOKEN', 'é'],
  ['text/plain; charset="us-ascii"', 'TOKEN', 'é'],
  ['application/json; charset=utf-8', '["TOKEN"]', '["é"]'],
  ['application/x-www-form-urlencoded', 'a=%EF%BF%BD+TOKEN', 'a=%EF%BF%BD+%C3%A9'],
  ['application/xml', '<?xml version="1.0" encoding="utf-8"?>TOKEN', '<?xml version="1.0" encoding="utf-8"?>é'],
];

describe.each(['held', 'streamed'])('%s', (way) => {
  const isChunked = way === 'streamed';
  const filled = (type: string, text: string, token: string) => {
    const body = text.replace('\\u007b\\u007bTOKEN', `\\u007b\\u007b${token}}}"]`).replace('TOKEN', `{{${token}}}`);
    if (!isChunked) return body;
    if (type.startsWith('multipart')) return `${'x'.repeat(limitBytes)}\r\n${body}`;
    if (type.includes('urlencoded')) return 'x=&'.repeat(limitBytes / 3) + body;
    if (type.includes('xml')) return body + 'x'.repeat(limitBytes);
    return (type.includes('json') ? ' ' : 'x').repeat(limitBytes) + body;
  };

  test.each(foreign)('an expression in %s, %j, is 400 and names the charset', async (type, text, charset) => {
    const { token, stranger, destination } = gateway.current;
    const before = destination.seen.length;
    const body = bytes(filled(type, text, token));
    const { status, detail } = await send(type, body, { isChunked });
    expect([status, detail]).toEqual([400, expect.stringContaining(`in text of the charset "${charset}"`)]);
    expect((await send(type, body, { isChunked, key: stranger })).status).toBe(403);
    expect(destination.seen).toHaveLength(before);
  });

  test.each(notUtf8)('an expression in %s that is not UTF-8, %j, is 400', async (type, text) => {
    const { token, destination } = gateway.current;
    const before = destination.seen.length;
    const { status, detail } = await send(type, bytes(filled(type, text, token)), { isChunked });
    expect([status, detail]).toEqual([400, expect.stringContaining('in text that is not UTF-8')]);
    expect(destination.seen).toHaveLength(before);
  });

  test.each<readonly string[]>([...foreign, ...notUtf8])(
    '%s without an expression passes, %j',
    async (type = '', text = '') => {
      const { token, destination } = gateway.current;
      const body = bytes(filled(type, text, token).replaceAll(/\{|\\u007b/g, '_'));
      expect((await send(type, body, { isChunked })).status).toBe(200);
      expect(destination.seen.at(-1)?.bytes).toEqual(Buffer.from(body));
    },
  );

  test.each(alike)('%s, %j, is filled', async (type, text, expected) => {
    const { token, destination } = gateway.current;
    expect((await send(type, bytes(filled(type, text, token)), { isChunked })).status).toBe(200);
    expect(destination.seen.at(-1)?.body).toContain(expected);
  });
});
