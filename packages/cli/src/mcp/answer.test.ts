import { answerOf } from './answer.ts';

const { signal: never } = new AbortController();
const respond = (body: ConstructorParameters<typeof Response>[0], type?: string, more: Record<string, string> = {}) => {
  const response = new Response(body, { headers: more });
  if (type === undefined) response.headers.delete('Content-Type');
  else response.headers.set('Content-Type', type);
  return response;
};

test.each<[string, string | undefined, Uint8Array | string | null, string[]]>([
  ['JSON', 'application/vnd.api+json', '{"a":"ü"}', ['content-type: application/vnd.api+json', '{"a":"ü"}']],
  ['its charset', 'text/plain; charset="iso-8859-1"', Buffer.from('ü', 'latin1'), ['content-type: text/plain', 'ü']],
  ['no type, but UTF-8', undefined, Buffer.from('ü'), ['content-type: none', 'ü']],
  ['no body', 'text/plain', null, ['content-type: text/plain']],
])('text is shown: %s', async (_name, type, body, [head = '', ...text]) => {
  const answer = await answerOf(respond(body, type), never);
  expect(answer).toEqual({ text: [expect.stringContaining(head), ...text], isError: false });
  expect(answer.text[0]).not.toContain('note:');
});

test.each<[string, string | undefined, Uint8Array, Record<string, string>, string]>([
  ['by its type', 'image/png', Buffer.alloc(70_000), {}, 'is 70000 bytes'],
  ['by its length', 'application/pdf', Buffer.alloc(3), { 'Content-Length': '123456' }, 'is 123456 bytes'],
  [
    'a length that is of the coded form',
    'image/png',
    Buffer.alloc(3),
    { 'Content-Length': '9', 'Content-Encoding': 'gzip' },
    'is 3 bytes',
  ],
  ['a charset that nobody knows', 'text/plain; charset=x-nobody', Buffer.from('abc'), {}, 'is 3 bytes'],
  ['no type, and no UTF-8', undefined, Buffer.from([0x41, 0xff]), {}, 'is 2 bytes'],
])('what is no text is told by its size: %s', async (_name, type, body, headers, size) => {
  const { text } = await answerOf(respond(body, type, headers), never);
  expect(text).toEqual([expect.stringContaining(size)]);
});

test('a body of 40,000 characters is shown, one more is cut off, and that is said', async () => {
  const [, whole] = (await answerOf(respond('é'.repeat(40_000), 'text/plain'), never)).text;
  expect(whole).toHaveLength(40_000);
  const { text } = await answerOf(respond('é'.repeat(40_001), 'text/plain'), never);
  expect(text).toEqual([expect.stringContaining('first 40,000 characters; the rest is cut off'), 'é'.repeat(40_000)]);
});

test('a body is not cut in the middle of a character', async () => {
  const [, text] = (await answerOf(respond(`${'x'.repeat(39_999)}😀`, 'text/plain'), never)).text;
  expect(text).toBe('x'.repeat(39_999));
  const [, whole] = (await answerOf(respond(`${'x'.repeat(39_998)}😀y`, 'text/plain'), never)).text;
  expect(whole).toBe(`${'x'.repeat(39_998)}😀`);
});

test.each([
  ['text/event-stream', 'The response did not end in time', ['data: 1\n\n']],
  ['image/png', 'at least 9 bytes', []],
])('a body of %s that does not end is told as far as it came', async (type, note, shown) => {
  const limit = new AbortController();
  let isCancelled = false;
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(Buffer.from('data: 1\n\n')),
    // All that there is has been read.
    pull: () => limit.abort(),
    cancel: () => {
      isCancelled = true;
    },
  });
  const { text } = await answerOf(respond(body, type), limit.signal);
  expect(text).toEqual([expect.stringContaining(note), ...shown]);
  expect(isCancelled).toBe(true);
});
