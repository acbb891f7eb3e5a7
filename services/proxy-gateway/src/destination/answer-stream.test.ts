import { bodyBytesFrom } from '@sluice/body-bytes';
import type { BodyReader } from '../http/message.ts';
import { collectBody } from '../limits/collect-body.ts';
import { AnswerStream } from './answer-stream.ts';

const tenantId = 'a tenant';
const tooLarge = () => new Error('too large');

/** A call that notes what is asked of it. */
function openStream() {
  const asked: string[] = [];
  const stream = new AnswerStream({});
  const head = stream.follow({ resume: () => asked.push('resume'), abort: () => asked.push('abort') });
  return { stream, head, asked };
}

/** The chunks and the ends that it was told. */
function openReader(onData: (chunk: Buffer) => boolean = () => true) {
  const told: string[] = [];
  const reader: BodyReader = {
    onData(chunk) {
      told.push(chunk.toString());
      return onData(chunk);
    },
    onEnd: () => told.push('end'),
    onError: (error) => told.push(`${error}`),
  };
  return { told, reader };
}

const fitting = Buffer.from('hello');
const lengthOfFitting = ['Content-Length', `${fitting.length}`];

describe('a body in one piece', () => {
  test('is read like any other by who does not take it', async () => {
    const { stream, head } = openStream();
    stream.onHead(200, lengthOfFitting, undefined);
    stream.onData(fitting);
    stream.onEnd([]);
    const { told, reader } = openReader();
    (await head).body.read(reader);
    expect(told).toEqual(['hello', 'end']);
  });

  test('is read like any other if it comes after reading has begun', async () => {
    const { stream, head } = openStream();
    stream.onHead(200, lengthOfFitting, undefined);
    const { body } = await head;
    const { told, reader } = openReader();
    body.read(reader);
    stream.onData(fitting);
    stream.onEnd([]);
    expect(told).toEqual(['hello', 'end']);
    expect(body.takeWhole()).toBeUndefined();
  });

  test.each([[[]], [['X-End', '1']]])(
    'without a length is taken once it has ended, unless there are trailers: %j',
    async (trailers: string[]) => {
      const { stream, head } = openStream();
      stream.onHead(200, [], undefined);
      stream.onData(Buffer.alloc(5000, 'a'));
      const { body } = await head;
      expect(body.takeWhole()).toBeUndefined();
      stream.onData(Buffer.alloc(5000, 'b'));
      stream.onEnd(trailers);
      expect(body.takeWhole()?.length).toBe(trailers.length === 0 ? 10_000 : undefined);
    },
  );

  test('is not taken from a call that has failed since', async () => {
    const { stream, head } = openStream();
    stream.onHead(200, lengthOfFitting, undefined);
    stream.onData(fitting);
    const { body } = await head;
    stream.onError(new Error('reset'));
    expect(body.takeWhole()).toBeUndefined();
  });
});

test('a reader that aborts while it is given what has arrived is told one end', async () => {
  const { stream, head, asked } = openStream();
  stream.onHead(200, [], undefined);
  stream.onData(Buffer.alloc(5000, 'a'));
  stream.onData(Buffer.alloc(5000, 'b'));
  const { body } = await head;
  const { told, reader } = openReader(() => {
    body.abort(new Error('enough'));
    return true;
  });
  body.read(reader);
  expect(told.map((text) => text.slice(0, 20))).toEqual(['a'.repeat(20), 'Error: enough']);
  expect(asked).toEqual(['abort']);
});

test('a body that has arrived is not collected before its memory is there', async () => {
  const config = { BODY_HELD_BYTES: 2 ** 20, BODY_HELD_TENANT_BYTES: 2 ** 20, BODY_WAIT_MS: 60_000 };
  const bodyBytes = bodyBytesFrom(config, { part: 1, requestPart: 0.5 });
  const others = bodyBytes.open({ tenantId: 'another' });
  await others.part('answer').grow(2 ** 20);
  await others.part('request').grow(2 ** 20);
  const memory = bodyBytes.open({ tenantId }).part('answer');
  const { stream, head } = openStream();
  stream.onHead(200, lengthOfFitting, undefined);
  stream.onData(fitting);
  stream.onEnd([]);
  let isCollected = false;
  const collected = collectBody((await head).body, { memory, limitBytes: 2 ** 19, tooLarge }).then((body) => {
    isCollected = true;
    return body;
  });
  await new Promise(setImmediate);
  expect({ isCollected, waiting: bodyBytes.waiting }).toEqual({ isCollected: false, waiting: 1 });
  others.release();
  expect(`${await collected}`).toBe('hello');
  expect(memory.bytes).toBeGreaterThan(0);
});
