import { useStack } from '@sluice/testing';
import { defaultAnswer } from '../testing/test-destination.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

const gateway = useStack((stack) => shareTestGateway(stack));

afterEach(() => {
  gateway.current.destination.answer = defaultAnswer;
});

type Sent = [type: string | undefined, bytes: Buffer];

const identity = 'module.exports = async (req) => ({ body: req.args.body });';
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16(text).swap16();

async function ask(parts: Omit<ProxyParts, 'destination'>, [type, body]: Sent) {
  const { tenant, destination, url } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, ...parts });
  const before = destination.seen.length;
  const response = await fetch(`${url}/proxy`, {
    method: 'POST',
    headers: { 'SVC-PROXY-KEY': proxy.key, ...(type !== undefined && { 'Content-Type': type }) },
    body: new Blob([new Uint8Array(body)]).stream(),
    duplex: 'half',
  } as RequestInit);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), bytes, seen: destination.seen[before] };
}

const request = (code: string, sent: Sent) => ask({ requestTransform: code }, sent);

function answer(code: string, [type, body]: Sent) {
  gateway.current.destination.answer = (_request, response) =>
    response.writeHead(200, type === undefined ? {} : { 'Content-Type': type }).end(body);
  return ask({ responseTransform: code }, ['text/plain', Buffer.from('x')]);
}

const kept: Sent[] = [
  ['application/x-www-form-urlencoded; charset=windows-1252', Buffer.from('CN=O%92Connor&a=S%F6hne+%26')],
  ['text/plain; charset=iso-8859-1', latin1('caf\xe9')],
  ['application/json; charset=ISO-8859-1', latin1('{"name":"Andr\xe9"}')],
  ['text/xml; charset=utf-16', utf16('\ufeff<a>caf\u00e9 \u65e5</a>')],
  ['text/xml; charset=utf-16', utf16be('\ufeff<a>caf\u00e9 \u65e5</a>')],
  ['text/xml; charset=UTF-16BE', utf16be('<a>\u65e5</a>')],
  ['text/plain; charset=koi8-r', Buffer.from([0xf0, 0xd2, 0xc9])],
  ['text/plain', Buffer.from('\ufeffcaf\u00e9')],
  ['text/csv', Buffer.from('\ufeffa,b\r\n')],
  ['application/x-ndjson', Buffer.from('{"a":1.0}\n{"b":2}\n')],
  ['application/json-seq', Buffer.from('\x1e{"a":1.0}\n')],
  ['application/yaml', Buffer.from('a: 1\n')],
  ['text/xml', latin1('<?xml version="1.0" encoding="ISO-8859-1"?><a>caf\xe9 \x92</a>')],
  ['application/soap+xml', latin1("<?xml version='1.0' encoding='windows-1252'?><a>\x92</a>")],
  ['application/xml', latin1('<?xml version="1.0" encoding="koi8-r"?><a>\xf0\xd2\xc9</a>')],
  ['text/html', latin1("<!DOCTYPE html><meta charset='windows-1252'><p>\x92</p>")],
  ['text/html', latin1('<meta http-equiv=content-type content="text/html; charset=iso-8859-2"><p>\xb1</p>')],
  ['text/html; charset=windows-1251', latin1('<meta charset=utf-8><p>\xe9</p>')],
  ['text/xml', utf16('\ufeff<?xml version="1.0" encoding="utf-16"?><a>\u65e5</a>')],
  ['text/xml', utf16be('<?xml version="1.0" encoding="utf-16"?><a>\u65e5</a>')],
  ['text/plain', utf16('\ufeffcaf\u00e9')],
  ['text/xml; charset=iso-8859-1', Buffer.from('\ufeff<a>\u65e5</a>')],
  ['text/csv; charset=utf-8', utf16be('\ufeffa,\u65e5\r\n')],
  ['text/xml', Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>ascii</a>')],
  ['text/plain; charset=x-user-defined', Buffer.from([0x41, 0x80, 0xff])],
];

test.each(kept)('a transform that returns what it was given keeps its bytes: %s', async (type, bytes) => {
  const sent = await request(identity, [type, bytes]);
  expect([sent.status, sent.seen?.headers['content-type']]).toEqual([200, type]);
  expect(sent.seen?.bytes).toEqual(bytes);
  const told = await answer(identity, [type, bytes]);
  expect([told.status, told.type]).toEqual([200, type]);
  expect(told.bytes).toEqual(bytes);
});

const seen =
  'module.exports = async (req) => ({ headers: {}, body: { type: typeof req.args.body, body: req.args.body } });';

test.each<[...Sent, unknown]>([
  ['application/x-www-form-urlencoded; charset=windows-1252', Buffer.from('CN=O%92Connor'), { CN: 'O\u2019Connor' }],
  ['application/x-www-form-urlencoded', Buffer.from('a=%c3%a9'), { a: '\u00e9' }],
  ['text/xml; charset=utf-16', utf16be('\ufeff<a>\u65e5</a>'), '\ufeff<a>\u65e5</a>'],
  ['application/json', Buffer.from('\ufeff{"a":1}'), { a: 1 }],
  ['application/json; charset=utf-16le', utf16('\ufeff{"a":1}'), { a: 1 }],
  [undefined, Buffer.from('\ufeff{"a":1}'), { a: 1 }],
  ['application/x-ndjson', Buffer.from('{"a":1}\n{"a":2}\n'), '{"a":1}\n{"a":2}\n'],
  ['application/x-amz-json-1.1', Buffer.from('{"a":1}'), { a: 1 }],
  ['application/json', utf16('\ufeff{"a":"\u65e5"}'), { a: '\u65e5' }],
  ['text/xml', latin1('<?xml encoding="iso-8859-2"?>\xb1'), '<?xml encoding="iso-8859-2"?>\u0105'],
])('it sees text and values, not bytes: %s', async (type, bytes, body) => {
  const told = JSON.stringify({ type: typeof body, body });
  expect((await request(seen, [type, bytes])).seen?.body).toBe(told);
  expect((await answer(seen, [type, bytes])).bytes.toString()).toBe(told);
});

test.each<Sent>([
  ['application/x-www-form-urlencoded', Buffer.from('CN=O%92Connor')],
  ['application/x-www-form-urlencoded; charset=windows-1253', Buffer.from('a=%aa')],
  ['application/x-www-form-urlencoded; charset=utf-16', utf16('a=1')],
  ['text/plain', latin1('caf\xe9')],
  ['application/json', latin1('{"a":"\xe9"}')],
  ['text/plain; charset=gbk', Buffer.from('abc')],
  ['text/xml; charset=gbk', Buffer.from('<a/>')],
  ['text/xml', Buffer.from([...Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>'), 0x83, 0x5c])],
  ['text/html; charset=ISO-2022-JP', Buffer.from('<p>')],
  ['text/plain; charset=utf-16', utf16('a\ud800')],
  ['text/plain; charset=utf-16', Buffer.from('abc')],
  ['application/x-ndjson', latin1('{"a":"\xe9"}\n')],
])('what cannot be read is 415 in a request and 502 in an answer: %s', async (type, bytes) => {
  const sent = await request(identity, [type, bytes]);
  expect([sent.status, sent.seen]).toEqual([415, undefined]);
  const told = await answer(identity, [type, bytes]);
  expect([told.status, JSON.parse(told.bytes.toString()).proxy_error.status]).toEqual([502, 502]);
});

test('without a content type, bytes that are no text pass the transform by', async () => {
  const bytes = latin1('caf\xe9');
  expect((await request(identity, [undefined, bytes])).seen?.bytes).toEqual(bytes);
  expect((await answer(identity, [undefined, bytes])).bytes).toEqual(bytes);
});

const returns = (type: string, body: string) =>
  `module.exports = async () => ({ headers: { 'content-type': ${JSON.stringify(type)} }, body: ${body} });`;

test.each([
  ['text/plain; charset=iso-8859-1', "'a \\u65e5'"],
  ['text/plain', "'a \\ud800'"],
  ['application/json; charset=windows-1251', "{ a: '\\u00e9' }"],
  ['application/x-www-form-urlencoded; charset=windows-1252', "{ a: '\\u65e5' }"],
  ['text/plain; charset=shift_jis', "'a'"],
])('a result that %s cannot hold is 500, and nothing is sent', async (type, body) => {
  const sent = await request(returns(type, body), ['text/plain', Buffer.from('x')]);
  expect([sent.status, sent.seen]).toEqual([500, undefined]);
  expect((await answer(returns(type, body), ['text/plain', Buffer.from('x')])).status).toBe(500);
});

test('a result is written in the charset that its own content type names', async () => {
  const code = returns('application/x-www-form-urlencoded; charset=iso-8859-1', "{ a: 'é €' }");
  expect((await request(code, ['application/json', Buffer.from('{}')])).seen?.body).toBe('a=%E9+%80');
  const bare = returns('application/json; charset=utf-16', '{ a: 1 }');
  expect((await answer(bare, ['text/plain', Buffer.from('x')])).bytes).toEqual(utf16('\ufeff{"a":1}'));
});

const renamed = (from: string, to: string) =>
  `module.exports = async (req) => ({ body: req.args.body.replace('${from}', '${to}') });`;

test('a result whose own declaration or mark changed is written as readers of it will read it', async () => {
  const declared = (charset: string, text: string) => `<?xml version="1.0" encoding="${charset}"?><a>${text}</a>`;
  const [before, after] = [declared('ISO-8859-1', 'caf\xe9'), declared('UTF-8', 'caf\xe9')];
  const sent = await request(renamed('ISO-8859-1', 'UTF-8'), ['text/xml', latin1(before)]);
  expect(sent.seen?.bytes).toEqual(Buffer.from(after));
  const back = await answer(renamed('UTF-8', 'ISO-8859-1'), ['text/xml', Buffer.from(after)]);
  expect(back.bytes).toEqual(latin1(before));
  const unmarked = await request(renamed('\\ufeff', ''), ['text/plain', utf16('\ufeffcaf\u00e9')]);
  expect(unmarked.seen?.bytes).toEqual(Buffer.from('caf\u00e9'));
  const lacking = await request(renamed('a', '\\u65e5'), ['text/xml', latin1(before)]);
  expect([lacking.status, lacking.seen]).toEqual([500, undefined]);
});
