import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { upload } from '../testing/upload.ts';

const limitBytes = 70_000;
const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: `${limitBytes}` }));

const bytesOf = (text: string | Buffer) => (typeof text === 'string' ? Buffer.from(text, 'latin1') : text);

async function send(
  contentType: string | undefined,
  text: (token: string) => string | Buffer,
  data = '4242424242424242',
) {
  const { tenant, destination, url } = gateway.current;
  const { key } = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const token = await tenant.token({ data });
  const headers = {
    'SVC-API-KEY': key,
    'SVC-PROXY-KEY': proxy.key,
    ...(contentType && { 'Content-Type': contentType }),
  };
  const before = destination.seen.length;
  const { status, detail } = await upload(url, headers, [bytesOf(text(token))]);
  return { status, detail, bodies: destination.seen.slice(before).map(({ bytes }) => bytes.toString('latin1')) };
}

/** Of short strings, which are read window by window. */
const filler = Array(3000).fill('x'.repeat(30)).join('","');

test.each([
  ['held', 'application/json; charset=gbk', (token: string) => `{"a":"{{ ${token} }}"}`],
  ['streamed', 'application/json; charset=gbk', (token: string) => `["${filler}","{{ ${token} }}"]`],
  [
    'behind a backslash byte',
    'application/json; charset=big5',
    (token: string) => `{"a":"\xa5\x5c","b":"{{${token}}}"}`,
  ],
  [
    'of that kind, streamed',
    'application/json; charset=big5',
    (token: string) => `["${filler}","\xa5\x5c","{{${token}}}"]`,
  ],
  ['text', 'text/plain; charset=Shift_JIS', (token: string) => `{{${token}}}`],
  ['CSV', 'text/csv; charset=gbk', (token: string) => `{{${token}}}`],
  ['a form', 'application/x-www-form-urlencoded; charset=Shift_JIS', (token: string) => `a={{${token}}}`],
  ['XML that shifts', 'text/xml; charset=ISO-2022-JP', (token: string) => `<a>{{${token}}}</a>`],
  ['XML in no charset', 'text/xml; charset=iso-2022-kr', (token: string) => `<a>${filler}{{${token}}}</a>`],
])('an expression in a body of a foreign charset is 415: %s', async (_, contentType, text) => {
  const { status, detail } = await send(contentType, text);
  expect({ status, detail }).toEqual({
    status: 415,
    detail: expect.stringMatching(/^Expressions are not replaced in the charset of this body/),
  });
});

test('without an expression such a body passes as it came', async () => {
  for (const more of ['', filler]) {
    const text = `["${more}","\xa5\x5c"]`;
    const { status, bodies } = await send('application/json; charset=big5', () => text);
    expect([status, bodies]).toEqual([200, [text]]);
  }
});

test.each([
  ['application/x-www-form-urlencoded; charset=ISO-8859-1', (token: string) => `a={{${token}}}`, 'a=4242424242424242'],
  ['text/xml; charset=windows-1252', (token: string) => `<a>{{${token}}}</a>`, '<a>4242424242424242</a>'],
])('%s is read, because ASCII is the same in it', async (contentType, text, body) => {
  expect(await send(contentType, text)).toMatchObject({ status: 200, bodies: [body] });
});

test.each([
  ['application/json', (inside: string) => `["\xe9 ${inside}"]`],
  ['application/json', (inside: string) => `["${filler}","\xe9 ${inside}"]`],
  ['application/x-www-form-urlencoded', (inside: string) => `a=%E9+${inside}`],
  ['application/x-www-form-urlencoded', (inside: string) => `a=${'x'.repeat(limitBytes)}&b=\xe9+${inside}`],
  ['application/x-www-form-urlencoded; charset=windows-1257', (inside: string) => `a=%A1+%E6+${inside}`],
])(
  'a text with an expression that is not of its charset is 415, and never has other characters: %s',
  async (contentType, text) => {
    const { status, detail } = await send(contentType, (token) => text(`{{${token}}}`));
    expect([status, detail]).toEqual([415, expect.stringContaining('send the charset of the body in Content-Type')]);
    expect(await send(contentType, () => text('abc'))).toMatchObject({ status: 200, bodies: [text('abc')] });
  },
);

const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16(text).swap16();
const value = 'caf\u00e9 \u2019';

interface Written {
  contentType: string;
  body(expression: string, filler: string): string | Buffer;
  inside: string;
}

const written: Record<string, Written> = {
  'JSON in Latin-1': {
    contentType: 'application/json; charset=iso-8859-1',
    body: (text, more) => `["${more}","\xe9","${text}"]`,
    inside: 'caf\\u00e9 \\u2019',
  },
  'JSON in a charset that lacks a character': {
    contentType: 'application/json; charset=iso-8859-2',
    body: (text, more) => `["${more}","${text}"]`,
    inside: 'caf\\u00e9 \\u2019',
  },
  'a form': {
    contentType: 'application/x-www-form-urlencoded; charset=windows-1252',
    body: (text, more) => `a=${more.replaceAll('","', '&a=')}&b=%e9&c=${text}`,
    inside: 'caf%E9+%92',
  },
  XML: {
    contentType: 'text/xml; charset=iso-8859-5',
    body: (text, more) => `<a>${more}\xd0</a><a>${text}</a>`,
    inside: 'caf&#233; &#8217;',
  },
  'XML in UTF-16': {
    contentType: 'text/xml; charset=utf-16',
    body: (text, more) => utf16be(`\ufeff<a>${more}\u65e5</a><a>${text}</a>`),
    inside: value,
  },
  'JSON in UTF-16': {
    contentType: 'application/json; charset=utf-16le',
    body: (text, more) => utf16(`["${more}","\u65e5","${text}"]`),
    inside: value,
  },
  'JSON with a value within a text in Latin-1': {
    contentType: 'application/json; charset=iso-8859-1',
    body: (text, more) => `["${more}","\xe9 ${text}\xe9"]`,
    inside: 'caf\\u00e9 \\u2019',
  },
  'XML that declares ISO-8859-1': {
    contentType: 'text/xml',
    body: (text, more) => `<?xml version="1.0" encoding="ISO-8859-1"?><a b="${text}">${more}\xe9${text}</a>`,
    inside: 'caf&#233; &#8217;',
  },
  'XML that declares windows-1252 in single quotes': {
    contentType: 'application/soap+xml',
    body: (text, more) => `<?xml version='1.0' encoding='windows-1252'?><a>${more}\x92<![CDATA[${text}]]></a>`,
    inside: 'caf\xe9 \x92',
  },
  // 0x83 0x7b is one character, as is 0x83 0x5d
  'XML that declares Shift_JIS': {
    contentType: 'application/xml',
    body: (text, more) => `<?xml version="1.0" encoding="Shift_JIS"?><a>${more}\x83\x7b${text}\x83\x5d</a>`,
    inside: 'caf&#233; &#8217;',
  },
  'XML whose type says GBK': {
    contentType: 'text/xml; charset=gb2312',
    body: (text, more) => `<?xml version="1.0" encoding="utf-8"?><a>${more}\xd5\x5c<![CDATA[\x81\x5d]>${text}]]></a>`,
    inside: 'caf\xa8\xa6 \xa1\xaf',
  },
  'HTML that declares Big5': {
    contentType: 'text/html',
    body: (text, more) => `<!DOCTYPE html><meta charset='big5'><p title="${text}">${more}\xa5\x5c${text}\xb3\x5c</p>`,
    inside: 'caf&#233; &#8217;',
  },
  'HTML that declares EUC-KR': {
    contentType: 'text/html',
    body: (text, more) =>
      `<meta http-equiv="Content-Type" content="text/html; charset=EUC-KR"><p>${more}\x8c\x63${text}</p>`,
    inside: 'caf&#233; &#8217;',
  },
  'XML in UTF-16 by its byte order mark alone': {
    contentType: 'text/xml',
    body: (text, more) => utf16(`\ufeff<?xml version="1.0" encoding="utf-16"?><a>${more}\u65e5${text}</a>`),
    inside: value,
  },
  'XML in UTF-16 that only its declaration shows': {
    contentType: 'text/xml',
    body: (text, more) => utf16be(`<?xml version="1.0" encoding="utf-16"?><a>${more}\u65e5${text}</a>`),
    inside: value,
  },
  'text behind a byte order mark that its type contradicts': {
    contentType: 'text/plain; charset=iso-8859-1',
    body: (text, more) => `\xef\xbb\xbf${more}${text}`,
    inside: Buffer.from(value).toString('latin1'),
  },
  'CSV in windows-1252': {
    contentType: 'text/csv; charset=windows-1252',
    body: (text, more) => `"${more.replaceAll('"', '')}\x92","${text}"\r\n`,
    inside: 'caf\xe9 \x92',
  },
  'XML that declares a charset which no reader knows': {
    contentType: 'text/xml',
    body: (text, more) => `<?xml version="1.0" encoding="IBM037"?><a>${more}${text}</a>`,
    inside: Buffer.from(value).toString('latin1'),
  },
  'JSON behind a byte order mark': {
    contentType: '',
    body: (text, more) => `\xef\xbb\xbf["${more}","${text}"]`,
    inside: Buffer.from(value).toString('latin1'),
  },
};

describe.each(Object.entries(written))('%s', (_, { contentType, body, inside }) => {
  test.each([
    ['held', ''],
    ['streamed', filler],
  ])('%s: a value is written in the charset of the body', async (_way, more) => {
    const { status, bodies } = await send(contentType, (token) => body(`{{ ${token} }}`, more), value);
    expect([status, bodies]).toEqual([200, [bytesOf(body(inside, more)).toString('latin1')]]);
  });

  test.each([
    ['held', ''],
    ['streamed', filler],
  ])('%s: without an expression it passes byte for byte', async (_way, more) => {
    const { status, bodies } = await send(contentType, () => body('abc', more));
    expect([status, bodies]).toEqual([200, [bytesOf(body('abc', more)).toString('latin1')]]);
  });
});

test.each([
  ['text/plain; charset=iso-8859-1', (token: string) => `{{${token}}}`],
  ['text/csv; charset=iso-8859-1', (token: string) => `"{{${token}}}"`],
  ['application/x-www-form-urlencoded; charset=iso-8859-1', (token: string) => `a={{${token}}}`],
  ['text/html; charset=koi8-r', (token: string) => `<script>{{${token}}}</script>`],
])('a value that cannot be written in %s is 400', async (contentType, text) => {
  expect(await send(contentType, text, '\u00a0')).toMatchObject({ status: 200 });
  expect(await send(contentType, text, '\u1234')).toMatchObject({ status: 400, bodies: [] });
});

test('what is not text in UTF-16 is 415', async () => {
  const text = (token: string) => Buffer.concat([utf16(`{{${token}}}`), utf16('\ud800')]);
  expect(await send('text/xml; charset=utf-16', text)).toMatchObject({ status: 415, bodies: [] });
});

test('a part of a form has a charset of its own', async () => {
  const part = (charset: string, content: string | Buffer) =>
    Buffer.concat([
      Buffer.from(
        `--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n`,
      ),
      bytesOf(content),
      Buffer.from('\r\n--B--\r\n'),
    ]);
  const form = 'multipart/form-data; boundary=B';
  const { bodies } = await send(form, (token) => part('iso-8859-1', `\xe9{{${token}}}`), value);
  expect(bodies).toEqual([part('iso-8859-1', '\xe9caf\xe9 \x92').toString('latin1')]);
  expect(await send(form, (token) => part('gbk', `{{${token}}}`))).toMatchObject({ status: 415, bodies: [] });
  const document = (text: string) =>
    `--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/xml\r\n\r\n<?xml version="1.0" encoding="gbk"?><a>\xd5\x5c${text}</a>\r\n--B--\r\n`;
  expect((await send(form, (token) => document(`{{${token}}}`), value)).bodies).toEqual([
    document('caf&#233; &#8217;'),
  ]);
  const marked = (token: string) =>
    bytesOf(document('')).toString('latin1').replace('<?xml', `\xff\xfe{\0{\0${token}<?xml`);
  expect(await send(form, marked)).toMatchObject({ status: 415, bodies: [] });
  expect(await send(form, (token) => part('utf-16', utf16(`{{${token}}}`)))).toMatchObject({ status: 415, bodies: [] });
});

test.each([
  'application/x-ndjson',
  'application/json-seq',
  'application/x-amz-json-1.1',
  'application/graphql',
  'application/yaml',
  'application/x-yaml',
  'application/toml',
  'application/x-ofx',
])('%s is searched, small and large', async (contentType) => {
  for (const more of ['', filler]) {
    const text = (inside: string) => `{"a":"${more}","b":"${inside}"}\n`;
    const { bodies } = await send(contentType, (token) => text(`{{ ${token} }}`));
    expect(bodies).toEqual([text('4242424242424242')]);
  }
});

test('a quoted text stands for itself, small and streamed', async () => {
  for (const more of ['', filler]) {
    const { bodies } = await send('application/json', () => `["${more}","$\{{ '{{' }} secrets.X }}","{{ '{' }}{a}"]`);
    expect(bodies).toEqual([`["${more}","$\{{ secrets.X }}","{{a}"]`]);
  }
});
