import { WorkPieces } from '@sluice/service-runtime';
import { run } from '../testing/naive-matches.ts';
import { Automaton } from './automaton.ts';
import { patternsOf } from './forms.ts';
import { RequestGuard } from './request-guard.ts';
import type { GuardMode } from './response-guard.ts';

type Grow = (bytes: number) => Promise<void> | undefined;

function openRequest(mode: GuardMode, grow: Grow = () => undefined, most = Number.POSITIVE_INFINITY) {
  const pieces = new WorkPieces();
  const held = { grown: [] as number[], kept: 0 };
  const memory = {
    bytes: 0,
    grow: (bytes: number) => {
      held.grown.push(bytes);
      memory.bytes = Math.min(memory.bytes + bytes, most);
      return grow(bytes);
    },
    shrinkTo: (bytes: number) => {
      held.kept = bytes;
      memory.bytes = bytes;
    },
  };
  const guard = new RequestGuard(mode, {
    memory: () => memory,
    inPieces: <T>(work: Parameters<typeof pieces.run<T>>[1]) => pieces.run<T>('a tenant', work),
  });
  const put = (...texts: string[]) => {
    for (const text of texts) guard.values.add({ reference: `of ${text}`, filters: [] }, text);
  };
  return { guard, held, put };
}

test('each value found is replaced by its own expression', async () => {
  const { guard, put } = openRequest('tokenize');
  put('first-value', 'second-value');
  const opened = await guard.open();
  expect(opened?.whole(Buffer.from('second-value, first-value.')).toString()).toBe(
    '{{ of second-value }}, {{ of first-value }}.',
  );
  expect(guard.found).toEqual({ hits: 2, tokenIds: ['of second-value', 'of first-value'] });
});

test.each(['x'.repeat(100), '"quoted"', 'back\\slash', '<tag>', 'né'])(
  'an expression that JSON or HTML would escape is not written: %s',
  async (id) => {
    const { guard } = openRequest('tokenize');
    guard.values.add({ reference: id, filters: [] }, 'some value');
    expect((await guard.open())?.whole(Buffer.from('some value')).toString()).toBe('[redacted]');
  },
);

test('without values there is no guard, and no memory for one', async () => {
  const { guard, held, put } = openRequest('block');
  put('short');
  expect(await guard.open()).toBeUndefined();
  expect(held.grown).toEqual([]);
});

test('where values may still come, there is one that finds them from then on', async () => {
  const { guard, put } = openRequest('redact');
  const opened = await guard.open(true);
  const text = opened?.replacer();
  expect(text?.read(Buffer.from('first-value ')).toString()).toBe('first-value ');
  put('first-value');
  await guard.extend();
  expect(opened?.whole(Buffer.from('first-value')).toString()).toBe('[redacted]');
});

test('values that come while it is being opened are looked for by the one that opens', async () => {
  const { guard, put } = openRequest('redact');
  put('first-value');
  const opening = guard.open(true);
  put('second-value');
  const extending = guard.extend();
  const opened = await opening;
  await extending;
  expect(opened?.whole(Buffer.from('first-value second-value')).toString()).toBe('[redacted] [redacted]');
});

test('before the answer begins, new values cost nothing; after it at most 100 times', async () => {
  const { guard, held, put } = openRequest('redact');
  for (let at = 0; at < 200; at++) {
    put(`before-${at}`);
    await guard.extend();
  }
  expect(held.grown).toEqual([]);
  await guard.open(true);
  for (let at = 0; at < 100; at++) {
    put(`after-${at}`);
    await guard.extend();
    await guard.extend();
  }
  put('one more');
  await expect(guard.extend()).rejects.toMatchObject({ code: 'payload_too_large', limit: 'guarded_values' });
});

test('whether a new value is known already makes no difference for that', async () => {
  const { guard } = openRequest('redact');
  await guard.open(true);
  for (let at = 0; at < 100; at++) {
    guard.values.add({ reference: `t${at}`, filters: [] }, 'the same value');
    await guard.extend();
  }
  guard.values.add({ reference: 'one more', filters: [] }, 'the same value');
  await expect(guard.extend()).rejects.toMatchObject({ code: 'payload_too_large' });
});

test('if memory is refused, nothing is built', async () => {
  const { guard, put } = openRequest('block', () => Promise.reject(new Error('no memory')));
  put('first-value');
  await expect(guard.open()).rejects.toThrow('no memory');
  await expect(guard.open()).rejects.toThrow('no memory');
});

test('more memory than one request may ever hold is 413', async () => {
  const { guard, put } = openRequest('block', undefined, 1_000);
  put('first-value');
  await expect(guard.open()).rejects.toMatchObject({ code: 'payload_too_large', limit: 'guarded_values' });
});

test.each<[string, string]>([
  ['letters', 'x'],
  ['slashes', '/'],
  ['control characters', '\u001f'],
  ['signs', "!'"],
  ['two bytes', 'é'],
  ['four bytes', '🔑'],
  ['digits', '12345'],
])('what is reserved suffices for the forms of %s, and is kept for one set of them', async (_, unit) => {
  const { guard, held, put } = openRequest('block');
  const text = unit.repeat(3_000);
  put(text);
  await guard.open(true);
  const patterns = run(patternsOf([text]));
  const used = patterns.reduce((sum, { bytes }) => sum + bytes.length, 0);
  expect(held.grown[0]).toBeGreaterThan(2 * used);
  expect(held.grown[1]).toBe(Automaton.bytesFor(patterns));
  put('another');
  await guard.extend();
  expect(held.kept).toBe((held.grown[2] ?? 0) + (held.grown[3] ?? 0));
});
