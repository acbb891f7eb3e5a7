import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '@sluice/problems';
import type { Pieces } from '@sluice/service-runtime';
import { slow } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import fc from 'fast-check';
import type { ContentKind } from '../../http/content-type.ts';
import { alone, countedRoom } from '../../testing/reveal-alone.ts';
import type { Asked } from '../asked.ts';
import { askedIn, fillPlaces } from '../detokenize.ts';
import { findExpressions } from '../find-expressions.ts';
import { heldWhileStreaming, RevealStream, type RevealStreamOptions } from './reveal-stream.ts';

type Kind = RevealStreamOptions['kind'];

const values = new Map<string, Json>([
  ['tok', 'say "hi" & <bye>\n€😀'],
  ['card', { number: '4242424242424242', expiration_month: 12 }],
  ['tökén', 'umlauts'],
  ['1234', ''],
]);

async function fetchValues({ tokenIds, fault }: Asked): Promise<Map<string, Json>> {
  if (fault) throw fault;
  return new Map(
    tokenIds.map((id) => {
      const value = values.get(id);
      if (value === undefined) throw new ServiceError('invalid_proxy_request', `Unknown tokens: ${id}`);
      return [id, value] as const;
    }),
  );
}

function streamed(chunks: readonly Buffer[], options: Partial<RevealStreamOptions> & { kind: Kind }): Promise<Buffer> {
  const stream = new RevealStream({ ...alone, fetchValues, limitBytes: 2 ** 20, ...options });
  return buffer(Readable.from(chunks, { objectMode: false }).compose(stream));
}

async function inMemory(body: Buffer, kind: ContentKind): Promise<Buffer> {
  const places = findExpressions(body, kind);
  const asked = askedIn(places);
  return fillPlaces(body, places, { values: await fetchValues(asked), limitBytes: 2 ** 20 });
}

async function outcome(task: () => Promise<Buffer>): Promise<string> {
  try {
    return (await task()).toString('latin1');
  } catch (error) {
    if (error instanceof ServiceError) return `! ${error.code}`;
    throw error;
  }
}

function split(body: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let position = 0, i = 0; position < body.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    chunks.push(body.subarray(position, position + size));
    position += size;
  }
  return chunks;
}

const expression = fc.constantFrom(
  '{{tok}}',
  '{{ card }}',
  "{{ card | json: '$.number' | last4 }}",
  '{{1234}}',
  "{{ tok | pad_left: 40, '}}' }}",
  "{{ tok | pad_left: 40, '{{ \\' |' }}",
  '{{ tökén }}',
  "{{ '{{' }}",
  '{{"\\"}}é"}}',
);
const plain = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('{'));
const loose = fc.constantFrom('{', '}', '}}', '%7', '%', '\\', '\\\\', 'u007b', '&', '=', '"', "'");
const text = fc
  .array(fc.oneof(plain, plain, expression, loose), { maxLength: 6 })
  .map((parts) => parts.join(' ').replaceAll('{ {', '{'));

function spell(value: string, style: number): string {
  return JSON.stringify(value).replace(/[{}a-z€]/g, (c, i: number) => {
    if ((i * 7 + style) % 3 !== 0 || style === 0) return c;
    const before = JSON.stringify(value).slice(0, i);
    if (/\\[^\\]*$/.test(before.slice(-6))) return c;
    const hex = c.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${style % 2 === 0 ? hex : hex.toUpperCase()}`;
  });
}

const json = fc.letrec<{ value: string; list: string; object: string; string: string }>((tie) => ({
  string: fc.tuple(text, fc.nat(5)).map(([value, style]) => spell(value, style)),
  value: fc.oneof(
    { maxDepth: 4 },
    tie('string'),
    fc.constantFrom('1e400', '12345678901234567890', 'null', 'true', '-0.0', '{}', '[ ]'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' ,\n')}]`),
  object: fc
    .array(fc.tuple(tie('string'), fc.constantFrom('', ' ', ' \t\r\n  '), tie('value')), { maxLength: 4 })
    .map((members) => `{${members.map(([name, space, value]) => `${name}${space}:${value}`).join(',')}}`),
})).value;

const bodies: Record<Exclude<Kind, 'none' | 'multipart'>, fc.Arbitrary<string>> = {
  json,
  'json-lines': fc.array(json, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`),
  form: fc.oneof(
    fc.array(fc.tuple(text, text), { maxLength: 5 }).map((pairs) => new URLSearchParams(pairs).toString()),
    fc.array(text, { maxLength: 5 }).map((parts) => parts.join('&a=')),
  ),
  text,
  csv: text,
  xml: text,
  html: text,
};

const windows = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(64 * 1024));
const chunkSizes = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
);

describe.each(Object.entries(bodies) as [keyof typeof bodies, fc.Arbitrary<string>][])('%s', (kind, body) => {
  slow('0.6 s')('comes out as if it had been in memory, wherever it is split', async () => {
    let replaced = 0;
    await fc.assert(
      fc.asyncProperty(body, windows, chunkSizes, async (sent, windowBytes, sizes) => {
        const bytes = Buffer.from(sent);
        const expected = await outcome(() => inMemory(bytes, kind));
        if (!expected.startsWith('! ') && expected !== bytes.toString('latin1')) replaced++;
        expect(await outcome(() => streamed(split(bytes, sizes), { kind, windowBytes }))).toBe(expected);
      }),
      { numRuns: 500 },
    );
    expect(replaced).toBeGreaterThan(50);
  });

  test('where a value is too long to be held, nothing else happens than 413', async () => {
    await fc.assert(
      fc.asyncProperty(body, windows, chunkSizes, async (sent, windowBytes, sizes) => {
        const bytes = Buffer.from(sent);
        const expected = await outcome(() => inMemory(bytes, kind));
        const actual = await outcome(() => streamed(split(bytes, sizes), { kind, windowBytes, longestPieceBytes: 30 }));
        expect([expected, '! payload_too_large']).toContain(actual);
        if (!/\{|%7b|\\u007b/i.test(sent)) expect(actual).toBe(bytes.toString('latin1'));
      }),
      { numRuns: 300 },
    );
  });
});

slow('0.7 s')('escapes in strings that are too long to be held are told apart, wherever they are split', async () => {
  const piece = fc.constantFrom('\\\\', '\\"', '\\u007b', '\\u007B', '{', 'u007b', '}', 'xxxxxxxx', '{{tok}}');
  const literal = fc.array(piece, { maxLength: 12 }).map((pieces) => `"${pieces.join('')}"`);
  const body = fc.array(literal, { maxLength: 4 }).map((literals) => `[${literals.join()}]`);
  await fc.assert(
    fc.asyncProperty(
      body,
      windows,
      chunkSizes,
      fc.integer({ min: 1, max: 60 }),
      async (sent, windowBytes, sizes, most) => {
        const options = { kind: 'json', windowBytes, longestPieceBytes: most } as const;
        const actual = await outcome(() => streamed(split(Buffer.from(sent), sizes), options));
        const hasOpening = JSON.parse(sent).some((text: string) => text.includes('{{'));
        if (!hasOpening) expect(actual).toBe(sent);
        else if (!actual.startsWith('! '))
          expect(actual).toBe(await outcome(() => inMemory(Buffer.from(sent), 'json')));
      },
    ),
    { numRuns: 1000, examples: [['["xxxxxxxxxxxxxxxxxxxxxxxx\\\\u007b{"]', 5, [1], 10]] },
  );
});

test.each([
  '{"a":{{tok}}}',
  '[ {{',
  '[{ {"a":"{{tok}}"',
  '["{{tok}}',
  '["{{tok}}","abc',
  '["\\x{{tok}}"]',
  '["{{tok}}\n"]',
])('JSON that is none is told like in memory: %s', async (sent) => {
  const expected = await outcome(() => inMemory(Buffer.from(sent), 'json'));
  for (const windowBytes of [1, 2, 3, 4, 5, 6, 7, 100]) {
    const actual = await outcome(() => streamed([Buffer.from(sent)], { kind: 'json', windowBytes }));
    expect({ windowBytes, actual }).toEqual({ windowBytes, actual: expected });
  }
});

test('bytes that are no text stay as they are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), windows, chunkSizes, async (array, windowBytes, sizes) => {
      const bytes = Buffer.concat([Buffer.from(array), Buffer.from('{{1234}}'), Buffer.from(array)]);
      fc.pre(!Buffer.from(array).includes('{') && !Buffer.from(array).includes('}'));
      const actual = await streamed(split(bytes, sizes), { kind: 'text', windowBytes });
      expect(actual).toEqual(Buffer.concat([Buffer.from(array), Buffer.from(array)]));
    }),
  );
});

test('a body without content type is JSON if it starts like it, and otherwise passes', async () => {
  const chunks = (sent: string) => split(Buffer.from(sent), [3]);
  expect(`${await streamed(chunks('{"a":"<{{1234}}>"}'), { kind: 'none' })}`).toBe('{"a":"<>"}');
  expect(`${await streamed(chunks('[ ["{{1234}}"]]'), { kind: 'none' })}`).toBe('[ [""]]');
  for (const sent of ['{{1234}}', 'a "{{1234}}"', '<a>{{1234}}</a>', '']) {
    expect(`${await streamed(chunks(sent), { kind: 'none' })}`).toBe(sent);
  }
});

describe('bounds', () => {
  const mebibyte = 2 ** 20;

  function* repeat(piece: Buffer, bytes: number): Generator<Buffer> {
    for (let left = bytes; left > 0; left -= piece.length) yield piece;
  }

  test.each([
    ['a JSON string', 'json', '["{{1234}}","', 'x', '","{{1234}}"]', ['["","', '",""]']],
    ['a JSON string of escapes', 'json', '["', '\\\\\\"', '\\"","{{1234}}"]', ['["', '\\"",""]']],
    ['a JSON string of backslashes', 'json', '["', '\\\\', '","{{1234}}"]', ['["', '",""]']],
    ['white space in JSON', 'json', '["{{1234}}",', ' ', '"{{1234}}"]', ['["",', '""]']],
    ['a name in JSON', 'json', '{"', 'n', '":"{{1234}}"}', ['{"', '":""}']],
    ['a pair of a form', 'form', 'a={{1234}}&b=', '%7Bx', '&c={{1234}}', ['a=&b=', '&c=']],
    ['a line of text', 'text', '{{1234}}', 'x', '{{1234}}', ['', '']],
  ] as const)('%s of 20 MiB passes without being held', async (_, kind, start, piece, end, [first, last]) => {
    const filler = Buffer.from(piece.repeat(50_000));
    const expected = createHash('sha256').update(first);
    let behind = 0;
    let mostBehind = 0;
    function* body() {
      yield Buffer.from(start);
      for (const chunk of repeat(filler, 20 * mebibyte)) {
        expected.update(chunk);
        behind += chunk.length;
        mostBehind = Math.max(mostBehind, behind);
        yield chunk;
      }
      yield Buffer.from(end);
    }
    const stream = new RevealStream({ kind, ...alone, fetchValues, limitBytes: mebibyte });
    const received = createHash('sha256');
    for await (const chunk of Readable.from(body(), { objectMode: false }).compose(stream)) {
      behind -= chunk.length;
      received.update(chunk);
    }
    expect(received.digest('hex')).toBe(expected.update(last).digest('hex'));
    expect(mostBehind).toBeLessThan(3 * mebibyte);
  });

  test.each([
    ['a JSON string', 'json', '["', '"]'],
    ['a pair of a form', 'form', 'a=', '&b=1'],
  ] as const)('%s with an expression may have 1 MiB, and no more', async (_, kind, start, end) => {
    const around = (bytes: number, position: 'first' | 'last') => {
      const filler = 'x'.repeat(bytes);
      return split(
        Buffer.from(position === 'first' ? `${start}{{1234}}${filler}${end}` : `${start}${filler}{{1234}}${end}`),
        [65_536],
      );
    };
    for (const position of ['first', 'last'] as const) {
      expect((await streamed(around(mebibyte - 100_000, position), { kind, limitBytes: 2 * mebibyte })).length).toBe(
        start.length + mebibyte - 100_000 + end.length,
      );
      await expect(streamed(around(1.5 * mebibyte, position), { kind })).rejects.toMatchObject({
        code: 'payload_too_large',
      });
    }
  });

  test('an expression that is not closed is 400 long before the body ends', async () => {
    function* body() {
      yield Buffer.from('{{ tok ');
      for (;;) yield Buffer.from('x'.repeat(1000));
    }
    const stream = new RevealStream({
      kind: 'text',
      ...alone,
      fetchValues,
      limitBytes: mebibyte,
    });
    await expect(buffer(Readable.from(body(), { objectMode: false }).compose(stream))).rejects.toMatchObject({
      code: 'bad_request',
    });
  });

  test('the values of a token are asked for once, those of a window together, and 100 are the most', async () => {
    const asked: (readonly string[])[] = [];
    const ids = Array.from({ length: 100 }, (_, i) => `token-${i}`);
    const options: Partial<RevealStreamOptions> & { kind: Kind } = {
      kind: 'text',
      windowBytes: 1000,
      limitBytes: mebibyte,
      fetchValues: async ({ tokenIds }) => {
        asked.push(tokenIds);
        return new Map(tokenIds.map((id) => [id, id]));
      },
    };
    const body = ids.map((id) => `{{${id}}}`).join(' ');
    const twice = Buffer.from(`${body} ${body}`);
    expect(`${await streamed([twice], options)}`).toBe(`${ids.join(' ')} ${ids.join(' ')}`);
    expect(asked.flat()).toEqual(ids);
    expect(asked.length).toBeLessThan(4);
    await expect(streamed([twice, Buffer.from('{{one-more}}')], options)).rejects.toMatchObject({
      code: 'invalid_proxy_request',
    });
  });

  slow('0.7 s')('more than 10,000 expressions are no error', async () => {
    const body = Buffer.from('{"a":"{{1234}}"}\n'.repeat(200_000));
    expect(
      (await streamed(split(body, [65_536]), { kind: 'json' })).equals(Buffer.from('{"a":""}\n'.repeat(200_000))),
    ).toBe(true);
  });

  test('windows with an opening are read and filled in turns, others at once', async () => {
    let pieces = 0;
    function* counted<T>(work: Pieces<T>): Pieces<T> {
      for (;;) {
        const { done, value } = work.next();
        if (done) return value;
        pieces += 1;
        yield value;
      }
    }
    const options = { kind: 'json', run: <T>(work: Pieces<T>) => alone.run(counted(work)) } as const;
    await streamed(split(Buffer.from('"{{tok}}",'.repeat(6500)), [65_536]), options);
    expect(pieces).toBeGreaterThan(15);
    pieces = 0;
    await streamed(split(Buffer.from(`["{{tok}}",${'"plain text",'.repeat(50_000)}1]`), [65_536]), options);
    expect(pieces).toBeLessThan(10 + 65_536 / 4096);
  });

  slow('1.9 s')('filters of a body without end process no more than grows with it, and others go on', async () => {
    const large = 'x'.repeat(10_000);
    const options = { kind: 'text', fetchValues: async () => new Map([['tok', large]]), limitBytes: 2 ** 23 } as const;
    const window = `${'{{tok|last4}}|'.repeat(4681)}\n`;
    const filled = (await streamed(split(Buffer.from(window.repeat(20)), [65_536]), options)).toString();
    const processed = filled.split('xxxx').length * large.length;
    expect(processed).toBeGreaterThan(8 * mebibyte);
    expect(processed).toBeLessThan(8.5 * mebibyte + 16 * 20 * window.length);
    // Without openings the body earns again what its filters may process
    const rested = `${window.repeat(20)}${'plain '.repeat(200_000)}{{tok|last4}}`;
    expect((await streamed(split(Buffer.from(rested), [65_536]), options)).toString()).toMatch(/plain xxxx$/);
  });

  test('what values make of a window is reserved, and given back once it has been read', async () => {
    let reserved = 0;
    const reserve = () =>
      countedRoom((bytes) => {
        reserved += bytes;
      });
    const fetchValues = async () => new Map([['tok', 'x'.repeat(6000)]]);
    const stream = new RevealStream({
      ...alone,
      kind: 'json',
      fetchValues,
      reserve,
      limitBytes: 5 * mebibyte,
    });
    let written = 0;
    const drains: (() => void)[] = [];
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.length;
        drains.push(done);
      },
    });
    const window = `["{{tok}}","${'x'.repeat(80)}"],`;
    Readable.from(split(Buffer.from(`${window.repeat(2100)}1`), [65_536]), { objectMode: false })
      .pipe(stream)
      .pipe(slow);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(written).toBeLessThan(200_000);
    expect(stream.readableLength).toBeLessThan(200_000);
    expect(reserved).toBeGreaterThan(3 * mebibyte);
    expect(reserved).toBeLessThan(6 * mebibyte);
    let mostReserved = 0;
    for (let turn = 0; turn < 10_000 && !slow.writableFinished; turn += 1) {
      drains.shift()?.();
      mostReserved = Math.max(mostReserved, reserved);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(slow.writableFinished).toBe(true);
    expect(written).toBe(2100 * (window.length + 6000 - '{{tok}}'.length) + 1);
    expect(mostReserved).toBeLessThan(12 * mebibyte);
    expect(reserved).toBe(0);
  });

  test('a string that is not finished is reserved, also when its stream ends early', async () => {
    let reserved = 0;
    const reserve = () =>
      countedRoom((bytes) => {
        reserved += bytes;
      });
    const stream = new RevealStream({
      ...alone,
      kind: 'json',
      fetchValues,
      reserve,
      limitBytes: mebibyte,
    });
    stream.resume();
    stream.write(Buffer.from(`["${'x'.repeat(500_000)}`));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(reserved).toBeGreaterThan(500_000 - heldWhileStreaming);
    stream.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reserved).toBe(0);
  });

  test.each([1000, 65_520, 65_536, 70_000])(
    'a body in chunks of %i bytes arrives whole at a slow sink',
    async (size) => {
      const body = Buffer.from(`[${'"plain text",'.repeat(60_000)}1]`);
      let received = 0;
      const slow = new Writable({
        highWaterMark: 65_536,
        write(chunk: Buffer, _encoding, done) {
          received += chunk.length;
          setImmediate(done);
        },
      });
      const stream = new RevealStream({
        ...alone,
        kind: 'json',
        fetchValues,
        limitBytes: mebibyte,
      });
      Readable.from(split(body, [size]), { objectMode: false })
        .pipe(stream)
        .pipe(slow);
      await Promise.race([once(slow, 'finish'), new Promise((resolve) => setTimeout(resolve, 5000))]);
      expect(received).toBe(body.length);
    },
  );

  test('no window is read before the one before it is taken', async () => {
    let sent = 0;
    function* body() {
      for (let i = 0; i < 1000; i++) {
        sent += 10_000;
        yield Buffer.from('x'.repeat(10_000));
      }
    }
    const stream = new RevealStream({
      kind: 'text',
      ...alone,
      fetchValues,
      limitBytes: mebibyte,
    });
    const slow = new Writable({ write: () => undefined });
    Readable.from(body(), { objectMode: false }).pipe(stream).pipe(slow);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sent).toBeGreaterThan(64 * 1024);
    expect(sent).toBeLessThan(mebibyte);
    stream.destroy();
  });
});
