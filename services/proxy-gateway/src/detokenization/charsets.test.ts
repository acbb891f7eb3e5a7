import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { upload } from '../testing/upload.ts';

const limitBytes = 1024;
const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` }));

async function send(contentType: string, text: (token: string) => string) {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const token = await tenant.token({ data: '4242424242424242' });
  const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxy.key, 'Content-Type': contentType };
  const before = destination.seen.length;
  const { status, detail } = await upload(url, headers, [Buffer.from(text(token), 'latin1')]);
  return { status, detail, bodies: destination.seen.slice(before).map(({ body }) => body) };
}

const filler = 'x'.repeat(2 * limitBytes);

test.each([
  ['held', 'application/json; charset=gbk', (token: string) => `{"a":"{{ ${token} }}"}`],
  ['streamed', 'application/json; charset=gbk', (token: string) => `["${filler}","{{ ${token} }}"]`],
  ['a form', 'application/x-www-form-urlencoded; charset=Shift_JIS', (token: string) => `a={{${token}}}`],
])('an expression in a body of a foreign charset is 400: %s', async (_, contentType, text) => {
  const { status, detail } = await send(contentType, text);
  expect({ status, detail }).toEqual({
    status: 400,
    detail: expect.stringMatching(
      /^Expressions are replaced in UTF-8, and this body is of the charset (gbk|Shift_JIS)$/,
    ),
  });
});

test('without an expression such a body passes as it came', async () => {
  expect(await send('text/plain; charset=big5', () => 'abc')).toMatchObject({ status: 200, bodies: ['abc'] });
});

test.each([
  ['application/x-www-form-urlencoded; charset=ISO-8859-1', (token: string) => `a={{${token}}}`, 'a=4242424242424242'],
  ['text/xml; charset=windows-1252', (token: string) => `<a>{{${token}}}</a>`, '<a>4242424242424242</a>'],
])('%s is read, because ASCII is the same in it', async (contentType, text, body) => {
  expect(await send(contentType, text)).toMatchObject({ status: 200, bodies: [body] });
});
