import { brotliCompressSync, gzipSync } from 'node:zlib';
import { AnswerStream } from '../destination/answer-stream.ts';
import type { Answer, BodyReader, HeaderList, StreamedAnswer } from '../http/message.ts';
import { automatonOf, run } from '../testing/naive-matches.ts';
import { patternsOf } from './forms.ts';
import { guardCollected, guardStreamed, withoutParts } from './guard-answer.ts';
import { type GuardMode, ResponseGuard, ValueReturned } from './response-guard.ts';

const secret = 'secret-value';
const automaton = automatonOf(run(patternsOf([secret])));
const guardOf = (mode: GuardMode) => new ResponseGuard(mode, automaton, ['{{ token }}']);

interface Sent {
  status?: number;
  reason?: string;
  headers?: HeaderList;
  chunks?: readonly (Buffer | string)[];
  trailers?: string[];
  isBodiless?: boolean;
  /** It ends after it has begun to be read. */
  isLate?: boolean;
}

/** An answer of a destination through the guard, and what a caller gets of it. */
async function pass(guard: ResponseGuard, sent: Sent) {
  const { status = 200, reason, headers = [], chunks = [], trailers = [], isBodiless = false, isLate = false } = sent;
  const asked: string[] = [];
  const stream = new AnswerStream({});
  const arrival = stream.follow({ resume: () => asked.push('resume'), abort: () => asked.push('abort') });
  stream.onHead(status, headers, reason);
  for (const chunk of chunks) stream.onData(Buffer.from(chunk));
  if (!isLate) stream.onEnd(trailers);
  try {
    const guarded = guardStreamed(await arrival, guard, isBodiless);
    const body = bodyOf(guarded);
    if (isLate) stream.onEnd(trailers);
    return { ...headOf(guarded), ...(await body), asked };
  } catch (error) {
    return { error, asked };
  }
}

const headOf = ({ status, reason, headers }: Pick<Answer, 'status' | 'reason' | 'headers'>) => ({
  status,
  reason,
  headers,
});

function bodyOf({ body }: Answer | StreamedAnswer): Promise<{ body: string; trailers?: string[]; broken?: unknown }> {
  if (Buffer.isBuffer(body)) return Promise.resolve({ body: body.toString() });
  return new Promise((resolve) => {
    let text = '';
    const reader: BodyReader = {
      onData: (chunk) => {
        text += chunk;
        // Asks for a pause each time, and ends it
        setImmediate(() => body.resume());
        return false;
      },
      onEnd: (trailers) => resolve({ body: text, trailers }),
      onError: (broken) => resolve({ body: text, broken }),
    };
    body.read(reader);
  });
}

const whole = (body: string) => ({ headers: ['Content-Length', `${body.length}`, 'ETag', '"1"'], chunks: [body] });

test('a body without a value passes as it is, with what describes it but its length, which is counted anew', async () => {
  expect(await pass(guardOf('redact'), whole('hello'))).toMatchObject({
    headers: ['ETag', '"1"'],
    body: 'hello',
  });
});

test.each<[GuardMode, string]>([
  ['tokenize', '{{ token }}'],
  ['redact', '[redacted]'],
])('%s: head, body and trailers', async (mode, put) => {
  const guard = guardOf(mode);
  const answer = await pass(guard, {
    reason: `No ${secret}`,
    headers: ['X-Echo', `a ${secret} b`, 'ETag', '"1"', secret, 'as a name', 'X-Other', 'other'],
    chunks: ['{"a":"secret', '-va', 'lue"}'],
    trailers: ['X-Sum', secret],
  });
  expect(answer).toMatchObject({
    reason: `No ${put}`,
    headers: ['X-Echo', `a ${put} b`, 'X-Other', 'other'],
    body: `{"a":"${put}"}`,
    trailers: ['X-Sum', put],
  });
  expect([...guard.hits]).toEqual([[0, 5]]);
});

test('a body in memory loses what described it, if something was replaced', async () => {
  const answer = await pass(guardOf('redact'), whole(`<${secret}>`));
  expect(answer).toMatchObject({ headers: [], body: '<[redacted]>' });
});

test('a transform’s own answer and an error are guarded as a whole', () => {
  const answer = { status: 418, reason: undefined, headers: ['X-A', secret], body: Buffer.from(secret) };
  const guarded = guardCollected(answer, guardOf('redact'));
  expect({ ...guarded, body: guarded.body.toString() }).toEqual({
    ...answer,
    headers: ['X-A', '[redacted]'],
    body: '[redacted]',
  });
});

test.each<[string, Sent]>([
  ['the reason phrase', { reason: secret }],
  ['a header', { headers: ['X-A', secret] }],
  ['a body in memory', whole(secret)],
])('block: %s is an error before the head, and the call ends', async (_, sent) => {
  const { error, asked } = await pass(guardOf('block'), sent);
  expect(error).toBeInstanceOf(ValueReturned);
  expect(asked).toContain('abort');
});

test.each<[string, Sent, string]>([
  ['a streamed body', { isLate: true, chunks: ['begin. secret-', 'value', ' end'] }, 'begin. '],
  ['a trailer', { chunks: ['begin. '], trailers: ['X-A', secret] }, 'begin. '],
])('block: %s ends the body with an error', async (_, sent, given) => {
  const answer = await pass(guardOf('block'), sent);
  expect(answer).toMatchObject({ body: given, broken: expect.any(ValueReturned) });
});

const gzipped = { headers: ['Content-Encoding', 'gzip', 'Content-Length', '99', 'Digest', 'x'] };

test('gzip is decoded, and goes on without a coding', async () => {
  const coded = gzipSync(`${'x'.repeat(200_000)} ${secret}`);
  const chunks = [coded.subarray(0, 20), coded.subarray(20, 21), coded.subarray(21)];
  const answer = await pass(guardOf('redact'), { ...gzipped, chunks, trailers: ['X-Sum', '1'] });
  expect(answer).toMatchObject({ headers: [], body: `${'x'.repeat(200_000)} [redacted]`, trailers: ['X-Sum', '1'] });
});

test.each<[string, Buffer]>([
  ['what is no gzip', Buffer.from('no gzip at all')],
  ['gzip that ends early', gzipSync('hello hello').subarray(0, -4)],
])('%s ends with an error, not as if it were whole', async (_, coded) => {
  const answer = await pass(guardOf('redact'), { ...gzipped, chunks: [coded] });
  expect(answer).toMatchObject({ broken: expect.objectContaining({ code: 'destination_answer_unusable' }) });
});

test.each<[string, Sent]>([
  ['206', { status: 206, chunks: ['secret-'] }],
  ['another coding', { headers: ['Content-Encoding', 'br'], chunks: [brotliCompressSync(secret)] }],
  ['two codings', { headers: ['Content-Encoding', 'gzip, gzip'], chunks: ['x'] }],
])('%s cannot be guarded', async (_, sent) => {
  const { error, asked } = await pass(guardOf('redact'), sent);
  expect(error).toMatchObject({ code: 'destination_answer_unusable' });
  expect(asked).toContain('abort');
});

test('an answer to HEAD keeps its length, and its headers are guarded', async () => {
  const headers = ['Content-Length', '123456', 'Content-Encoding', 'gzip', 'X-A', secret];
  const answer = await pass(guardOf('redact'), { headers, isBodiless: true });
  expect(answer).toMatchObject({ headers: [...headers.slice(0, 5), '[redacted]'], body: '' });
});

test('an expression that JSON or a header would escape becomes [redacted]', async () => {
  const guard = new ResponseGuard('tokenize', automaton, ['{{ tokén }}']);
  const answer = await pass(guard, { headers: ['X-A', secret], chunks: [secret, ' '] });
  expect(answer).toMatchObject({ headers: ['X-A', '[redacted]'], body: '[redacted] ' });
});

test('values that are put in after the body has begun are found from then on, also in what was held back', async () => {
  const guard = guardOf('redact');
  const stream = new AnswerStream({});
  const arrival = stream.follow({ resume: () => undefined, abort: () => undefined });
  stream.onHead(200, [], undefined);
  stream.onData(Buffer.from('later-value secret-'));
  const body = bodyOf(guardStreamed(await arrival, guard, false));
  guard.lookFor(automatonOf(run(patternsOf([secret, 'secret-later-value']))));
  stream.onData(Buffer.from('later-value secret-value.'));
  stream.onEnd([]);
  expect(await body).toEqual({ body: 'later-value [redacted] [redacted].', trailers: [] });
});

test('requests ask for what can be guarded', () => {
  const asked = ['Range', 'bytes=0-9', 'If-Range', '"1"', 'accept-encoding', 'br', 'Accept', '*/*'];
  expect(withoutParts(asked)).toEqual(['Accept', '*/*', 'Accept-Encoding', 'gzip, identity']);
});
