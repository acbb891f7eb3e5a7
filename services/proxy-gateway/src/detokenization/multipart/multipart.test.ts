import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '@sluice/problems';
import { slow } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import fc from 'fast-check';
import { alone } from '../../testing/reveal-alone.ts';
import { askedIn, fillPlaces } from '../detokenize.ts';
import { RevealStream } from '../stream/reveal-stream.ts';
import { boundaryOf } from './boundary.ts';
import { findInMultipart } from './multipart-reader.ts';

const limitBytes = 2 ** 20;
const B = 'Bo-_un';

const values = new Map<string, Json>([
  ['tok', 'say "hi" & <bye>\n€😀'],
  ['card', { number: '4242' }],
  ['empty', ''],
  ['crlf', `x\r\n--${B}\r\n\r\nmore`],
  ['lf', `x\n--${B}--`],
  ['start', `--${B}`],
  ['half', '--Bo'],
  ['dashes', '--'],
  ['cr', '\r'],
]);

function held(body: Buffer, boundary: string | undefined = B, known: ReadonlyMap<string, Json> = values): Buffer {
  const places = findInMultipart(body, boundary);
  askedIn(places);
  return fillPlaces(body, places, { values: known, limitBytes });
}

interface Splitting {
  sizes?: readonly number[];
  windowBytes?: number;
  longestPieceBytes?: number;
}

function streamed(body: Buffer, { sizes = [], ...options }: Splitting = {}): Promise<Buffer> {
  const fetchValues = async () => values;
  const stream = new RevealStream({
    ...alone,
    kind: 'multipart',
    boundary: B,
    fetchValues,
    limitBytes,
    ...options,
  });
  return buffer(Readable.from(split(body, sizes), { objectMode: false }).compose(stream));
}

function split(body: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let position = 0, i = 0; position < body.length; i++) {
    const size = sizes[i % sizes.length] ?? body.length;
    chunks.push(body.subarray(position, position + size));
    position += size;
  }
  return chunks;
}

async function outcome(task: () => Buffer | Promise<Buffer>): Promise<string> {
  try {
    return (await task()).toString('latin1');
  } catch (error) {
    if (error instanceof ServiceError) return `! ${error.code}: ${error.detail}`;
    throw error;
  }
}

async function outcomeOf(text: string): Promise<string> {
  const body = Buffer.from(text);
  const expected = await outcome(() => held(body));
  for (const windowBytes of [1, 2, 3, 7, 64, 65_536]) {
    expect({ windowBytes, actual: await outcome(() => streamed(body, { windowBytes })) }).toEqual({
      windowBytes,
      actual: expected,
    });
  }
  return Buffer.from(expected, 'latin1').toString();
}

const field = (content: string, header = 'Content-Disposition: form-data; name="a"') =>
  `--${B}\r\n${header}\r\n\r\n${content}\r\n`;
const end = `--${B}--\r\n`;
const named = 'Content-Disposition: form-data; name="a"';

describe('what is replaced', () => {
  test.each([
    ['a field', '', '{{tok}}', 'say "hi" & <bye>\n€😀'],
    ['text around it, of any language', '', 'é {{tok}} €', 'é say "hi" & <bye>\n€😀 €'],
    ['an object', '', '{{card}}', '{"number":"4242"}'],
    ['a filter', '', "{{ card | json: '$.number' | last4 }}", '4242'],
    ['text/plain', '\r\nContent-Type: text/plain; charset=utf-8', '{{empty}}.', '.'],
    ['any case of names', '\r\ncontent-TYPE: TEXT/plain', '{{empty}}.', '.'],
    [
      'HTML, escaped for it',
      '\r\nContent-Type: text/html',
      '<b>{{tok}}</b>',
      '<b>say &quot;hi&quot; &amp; &lt;bye&gt;\n€😀</b>',
    ],
    [
      'a JSON string',
      '\r\nContent-Type: application/json',
      '{"n":1e400,"{{x}}":"{{card}}"}',
      '{"n":1e400,"{{x}}":{"number":"4242"}}',
    ],
    ['JSON, escaped for it', '\r\nContent-Type: text/json', '["\\u007B{tok}}!"]', '["say \\"hi\\" & <bye>\\n€😀!"]'],
    ['a plain encoding', '\r\nContent-Transfer-Encoding: 8bit', '{{empty}}.', '.'],
  ])('%s', async (_, more, content, expected) => {
    const rest = field('other', 'Content-Disposition: form-data; name="b"; filename="b.txt"') + end;
    expect(await outcomeOf(`${field(content, named + more)}${rest}`)).toBe(`${field(expected, named + more)}${rest}`);
  });

  test.each(['name=a', 'name="a b"', 'name="filename"', 'name=""', 'NAME="ä"', 'x=1; name="a";'])(
    'a field with %s',
    async (name) => {
      const header = `Content-Disposition: form-data; ${name}`;
      expect(await outcomeOf(field('{{empty}}.', header) + end)).toBe(field('.', header) + end);
    },
  );

  test('bytes around a value that are not UTF-8 stay', () => {
    const part = (value: string) =>
      Buffer.concat([
        Buffer.from(`--${B}\r\n${named}\r\n\r\n`),
        Buffer.from([0xff, 0xe9]),
        Buffer.from(value),
        Buffer.from([0x80]),
        Buffer.from(`\r\n${end}`),
      ]);
    expect(held(part('{{tok}}'))).toEqual(part('say "hi" & <bye>\n€😀'));
  });

  test('preamble and epilogue stay, and an end needs no line break', async () => {
    expect(await outcomeOf(`before\r\n${field('{{empty}}')}--${B}--`)).toBe(`before\r\n${field('')}--${B}--`);
    expect(await outcomeOf(`${field('{{empty}}')}${end}{{tok}}`)).toBe(`${field('')}${end}{{tok}}`);
  });

  test('forms as node writes them keep every field and every file', async () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !/[{}\\]/.test(text));
    const parts = fc.array(fc.tuple(line, fc.oneof(line, fc.constant('{{tok}}'), fc.uint8Array())), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(parts, async (entries) => {
        const form = new FormData();
        for (const [name, value] of entries)
          form.append(name, typeof value === 'string' ? value : new Blob([Buffer.from(value)]));
        const response = new Response(form);
        const type = response.headers.get('content-type') ?? '';
        const sent = Buffer.from(await response.arrayBuffer());
        const filled = held(sent, boundaryOf(['Content-Type', type]));
        const received = await new Response(filled as Buffer<ArrayBuffer>, {
          headers: { 'Content-Type': type },
        }).formData();
        const expected = [
          ...(await new Response(sent as Buffer<ArrayBuffer>, { headers: { 'Content-Type': type } }).formData()),
        ].map(([name, value]) => [name, value === '{{tok}}' ? values.get('tok') : value] as const);
        expect(await texts([...received])).toEqual(await texts(expected));
      }),
    );
  });
});

async function texts(entries: readonly (readonly [string, unknown])[]) {
  return Promise.all(
    entries.map(async ([name, value]) => [
      name,
      value instanceof Blob ? await value.text() : String(value).replaceAll('\r\n', '\n'),
    ]),
  );
}

describe('what passes byte for byte', () => {
  test.each([
    ['a file', `${named}; filename="{{tok}}"`],
    ['a file without a name', `${named}; filename=""`],
    ['a file named by RFC 5987', `${named}; filename*=UTF-8''x`],
    ['a file with an old path', `${named}; filename="C:\\x"`],
    ['a file behind a name with a quote', 'Content-Disposition: form-data; name="a\\"; filename="b"'],
    ['a file whose header is folded', `${named};\r\n filename="b"`],
    ['two dispositions, one of a file', `${named}\r\n${named}; filename="b"`],
    ['a picture', `${named}\r\nContent-Type: image/png`],
    ['a nested form', `${named}\r\nContent-Type: multipart/mixed; boundary=x`],
    ['a form in a part', `${named}\r\nContent-Type: application/x-www-form-urlencoded`],
    ['XML of applications', `${named}\r\nContent-Type: application/xml`],
  ])('%s', async (_, header) => {
    const body = field('{{tok}} {{', header) + field('x') + end;
    expect(await outcomeOf(body)).toBe(body);
  });

  test.each([
    ['no boundary', 'x'],
    ['bare line breaks', `--${B}\n${named}\n\nx\n--${B}--\n`],
    ['no end', `--${B}\r\n${named}\r\n\r\nx`],
    ['nothing', ''],
    ['a header without end', `--${B}\r\n${named}`],
    ['two names', field('x', `${named}; name="b"`) + end],
  ])('without an expression: %s', async (_, body) => {
    expect(await outcomeOf(body)).toBe(body);
  });

  test('names and headers are never filled', async () => {
    const body = field('x', 'Content-Disposition: form-data; name="{{tok}}"\r\nX: {{tok}}') + end;
    expect(await outcomeOf(body)).toBe(body);
  });
});

describe('an expression is refused where readers could disagree', () => {
  test.each([
    ['bare line breaks', `--${B}\n${named}\n\n{{tok}}\n--${B}--\n`],
    [
      'a bare line break before the boundary',
      `--${B}\r\n${named}; filename=x\r\n\r\nx\n--${B}\r\n${named}\r\n\r\n{{tok}}\r\n${end}`,
    ],
    [
      'a return alone before the boundary',
      `--${B}\r\n${named}; filename=x\r\n\r\nx\r--${B}\r\n${named}\r\n\r\n{{tok}}\r\n${end}`,
    ],
    ['a boundary in its own text', field(`{{tok}}\n--${B}`) + end],
    ['a boundary right behind a header', `--${B}\r\n${named}; filename=x\r\n\r\n${field('{{tok}}')}${end}`],
    ['padding behind the boundary', `--${B} \r\n${named}\r\n\r\n{{tok}}\r\n${end}`],
    ['text behind the boundary', `--${B}x\r\n${named}\r\n\r\n{{tok}}\r\n${end}`],
    ['text behind the end', `${field('x')}--${B}--x\r\n${field('{{tok}}')}${end}`],
    ['no end', `--${B}\r\n${named}\r\n\r\n{{tok}}`],
    ['half an end', `--${B}\r\n${named}\r\n\r\n{{tok}}\r\n--${B}-`],
    ['an end that is cut off', `--${B}\r\n${named}\r\n\r\n{{tok}}\r\n--${B}`],
    ['no boundary', '{{tok}}'],
    ['a preamble', `{{tok}}\r\n${field('x')}${end}`],
    ['a bare line break in a header', `--${B}\r\n${named}\nX: y\r\n\r\n{{tok}}\r\n${end}`],
    ['a boundary in a header', `--${B}\r\n${named}\r\n--${B}\r\n\r\n{{tok}}\r\n${end}`],
    ['a header of 17 KiB', `--${B}\r\n${named}\r\nX: ${'x'.repeat(17_000)}\r\n\r\n{{tok}}\r\n${end}`],
    ['no disposition', field('{{tok}}', 'Content-Type: text/plain') + end],
    ['no header at all', `--${B}\r\n\r\n{{tok}}\r\n${end}`],
    ['another disposition', field('{{tok}}', 'Content-Disposition: attachment; name="a"') + end],
    ['no name', field('{{tok}}', 'Content-Disposition: form-data') + end],
    ['two names', field('{{tok}}', `${named}; name="b"`) + end],
    ['an encoded name', field('{{tok}}', `Content-Disposition: form-data; name*=UTF-8''a`) + end],
    ['a name with a backslash', field('{{tok}}', 'Content-Disposition: form-data; name="a\\""') + end],
    ['two dispositions', field('{{tok}}', `${named}\r\nContent-Disposition: form-data; name="b"`) + end],
    ['two types', field('{{tok}}', `${named}\r\nContent-Type: text/plain\r\nContent-Type: image/png`) + end],
    ['a folded header', field('{{tok}}', `${named}\r\n x`) + end],
    ['a space before the colon', field('{{tok}}', 'Content-Disposition : form-data; name="a"') + end],
    ['quoted-printable', field('{{tok}}', `${named}\r\nContent-Transfer-Encoding: quoted-printable`) + end],
    ['JSON that is none', field('{{tok}}', `${named}\r\nContent-Type: application/json`) + end],
  ])('%s', async (_, body) => {
    expect(await outcomeOf(body)).toMatch(/^! bad_request: /);
    const plain = body.replace('{{tok}}', '"tok"');
    expect(await outcomeOf(plain)).toBe(plain);
  });

  test.each([
    ['', '{{tok', 'at character 0 in the part "a" is not valid'],
    ['\r\nContent-Type: application/json', '{"n":["{{}}"]}', 'at character 0 of $.n[0] in the part "a" is not valid'],
  ])('an error in an expression names the part: %j', async (more, content, expected) => {
    expect(await outcomeOf(field(content, named + more) + end)).toContain(`The expression ${expected}`);
  });

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary=${B}; boundary=x`,
    `multipart/form-data; boundary*=${B}`,
    `multipart/form-data; boundary="${B} "`,
    `multipart/form-data; boundary="${B}`,
    `multipart/form-data; boundary="\\${B}"`,
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/form-data; boundary=ä',
    `multipart/form-data; x y boundary=${B}`,
  ])('a type that names no clear boundary: %s', (type) => {
    expect(boundaryOf(['Content-Type', type])).toBeUndefined();
  });

  test('two types', () => {
    const type = `multipart/form-data; boundary=${B}`;
    expect(boundaryOf(['Content-Type', type])).toBe(B);
    expect(boundaryOf(['Content-Type', type, 'content-type', type])).toBeUndefined();
    expect(() => findInMultipart(Buffer.from(field('{{tok}}') + end), undefined)).toThrow(
      /must name exactly one boundary/,
    );
  });

  test.each([
    ['multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
    ['Multipart/Form-Data;charset=utf-8;BOUNDARY="a b:c"', 'a b:c'],
    ['multipart/form-data; boundary===x?(1)', '==x?(1)'],
  ])('but clients write it in many ways: %s', (type, boundary) => {
    expect(boundaryOf(['Content-Type', type])).toBe(boundary);
  });
});

describe('a value that would end its part', () => {
  test.each([
    ['a delimiter', '{{crlf}}'],
    ['one with a bare line break', '{{lf}}'],
    ['the boundary, right behind the header', '{{start}}'],
    ['the boundary behind a line break of the text', 'x\r\n{{start}}'],
    ['half of a boundary beside the other half', '{{half}}-_un'],
    ['hyphens before the boundary', `{{dashes}}${B}`],
    ['a return that makes a line of what follows', `x{{cr}}--${B}`],
    ['two values that make one together', '{{half}}{{empty}}-_un'],
  ])('is 400 and names the part: %s', async (_, content) => {
    expect(await outcomeOf(field(content) + end)).toMatch(
      /^! bad_request: After replacing tokens the part "a" contains/,
    );
  });

  test.each([
    ['{{crlf | strip}}!', '!'],
    ['{{start | strip}}', ''],
    ['{{tok | slice: 0, 3}}{{crlf | strip}}', ''],
    ['{{empty}}{{start | strip}}', ''],
  ])('is left out where a filter made it: %s', async (content, expected) => {
    expect(await outcomeOf(field(content) + end)).toBe(field(expected) + end);
  });

  test('does not tell by the answer what a filter made of it', async () => {
    // Without the value the part holds a delimiter, so it is refused whatever the value is
    for (const token of ['tok', 'empty', 'half']) {
      expect(await outcomeOf(field(`--Bo{{${token} | strip}}-_un`) + end)).toMatch(/^! bad_request/);
    }
  });

  test('is no danger in JSON, nor in the middle of a line', async () => {
    const json = `${named}\r\nContent-Type: application/json`;
    expect(await outcomeOf(field('["{{crlf}}"]', json) + end)).toBe(
      field(JSON.stringify([values.get('crlf')]), json) + end,
    );
    expect(await outcomeOf(field('x{{start}}') + end)).toBe(field(`x--${B}`) + end);
  });
});

/** As lenient as any reader that we know: every kind of line break begins a line. */
const delimitersIn = (text: string) => text.match(new RegExp(`(?:^|[\\r\\n])--${B}`, 'g'))?.length ?? 0;

const fragment = fc.constantFrom(
  `--${B}\r\n`,
  `\r\n--${B}\r\n`,
  `\r\n--${B}--`,
  `--${B}`,
  '--',
  B,
  'Bo',
  '-_un',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  named,
  `${named}; filename="f"`,
  'Content-Type: application/json',
  'Content-Type: image/png',
  '["',
  '"]',
  ...[...values.keys()].map((id) => `{{${id}}}`),
  '{{crlf | strip}}',
  '{',
  '\\u007b',
  'x',
  'é',
);
const wellFormed = fc
  .array(
    fc.tuple(
      fc.constantFrom(named, `${named}\r\nContent-Type: text/plain`, `${named}; filename=x`),
      fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join('')),
    ),
    { maxLength: 4 },
  )
  .map((parts) => `${parts.map(([header, content]) => field(content, header)).join('')}${end}`);
const anyBody = fc.oneof(
  wellFormed,
  fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join('')),
);

slow('2.5 s')('no value makes or hides a part for any reader, and windows change nothing', async () => {
  let replaced = 0;
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(anyBody, fc.integer({ min: 1, max: 60 }), sizes, async (text, windowBytes, chunkSizes) => {
      const body = Buffer.from(text);
      const expected = await outcome(() => held(body));
      const actual = await outcome(() => streamed(body, { windowBytes, sizes: chunkSizes }));
      expect(actual.startsWith('! ') ? '!' : actual).toBe(expected.startsWith('! ') ? '!' : expected);
      if (expected.startsWith('! ')) return;
      expect(delimitersIn(expected)).toBe(delimitersIn(body.toString('latin1')));
      if (expected !== body.toString('latin1')) replaced++;
    }),
    { numRuns: 3000 },
  );
  expect(replaced).toBeGreaterThan(200);
});

test('the measure of the test above sees what an unchecked replacement would do', () => {
  const body = field('{{crlf}}') + end;
  expect(delimitersIn(body.replace('{{crlf}}', `${values.get('crlf')}`))).toBe(delimitersIn(body) + 1);
});

describe('in a stream', () => {
  test('a field without an expression may have any length, one with it as much as can be held', async () => {
    const options = { windowBytes: 100, longestPieceBytes: 1000 };
    const long = (content: string) => Buffer.from(field(content) + field('{{empty}}.') + end);
    expect(await outcome(() => streamed(long('x'.repeat(5000)), options))).toBe(
      field('x'.repeat(5000)) + field('.') + end,
    );
    for (const content of [`{{tok}}${'x'.repeat(5000)}`, `${'x'.repeat(5000)}{{tok}}`]) {
      expect(await outcome(() => streamed(long(content), options))).toMatch(/^! payload_too_large/);
    }
  });

  test('a header without an end is refused or passes long before the body ends', async () => {
    let sent = 0;
    function* body() {
      yield Buffer.from(`--${B}\r\n${named}\r\nX: {{tok}}`);
      for (; ; sent++) yield Buffer.from('x'.repeat(1000));
    }
    const stream = new RevealStream({
      ...alone,
      kind: 'multipart',
      boundary: B,
      fetchValues: async () => values,
      limitBytes,
    });
    await expect(buffer(Readable.from(body(), { objectMode: false }).compose(stream))).rejects.toThrow(/too long/);
    expect(sent).toBeLessThan(1000);
  });
});

test.each([
  ['parts without a header', `--${B}\r\n\r\n\r\n`],
  ['fields', field('{{empty}}')],
])('of %s 10,000 are read, and no more', (_, piece) => {
  const many = (count: number) => Buffer.from(field('{{empty}}') + piece.repeat(count - 1) + end);
  expect(findInMultipart(many(10_000), B).length).toBeGreaterThan(0);
  expect(() => findInMultipart(many(10_001), B)).toThrow(/at most 10000 parts/);
});

test('of expressions 10,000 are replaced, in all fields together, and no more', () => {
  const many = (count: number) => Buffer.from(field('{{empty}}{{empty}}').repeat(count / 2) + end);
  expect(findInMultipart(many(10_000), B)).toHaveLength(5000);
  expect(() => findInMultipart(many(10_002), B)).toThrow(/more than 10000 expressions/);
});
