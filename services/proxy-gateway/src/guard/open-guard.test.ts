import { WorkPieces } from '@sluice/service-runtime';
import { run } from '../testing/naive-matches.ts';
import { Automaton } from './automaton.ts';
import { patternsOf } from './forms.ts';
import { GuardedValues } from './guarded-values.ts';
import { openGuard } from './open-guard.ts';

function openOpening() {
  const reserved: number[] = [];
  const pieces = new WorkPieces();
  const opening = {
    reserve: async (bytes: number) => void reserved.push(bytes),
    inPieces: <T>(work: Parameters<typeof pieces.run<T>>[1]) => pieces.run<T>('a tenant', work),
  };
  return { reserved, opening };
}

function valuesOf(...texts: string[]): GuardedValues {
  const values = new GuardedValues();
  for (const text of texts) values.add(`{{ of ${text} }}`, text);
  return values;
}

test('each value found is replaced by its own expression', async () => {
  const guard = await openGuard('tokenize', valuesOf('first-value', 'second-value'), openOpening().opening);
  expect(guard?.whole(Buffer.from('second-value, first-value.')).toString()).toBe(
    '{{ of second-value }}, {{ of first-value }}.',
  );
});

test('without values there is no guard, and no memory for one', async () => {
  const { reserved, opening } = openOpening();
  expect(await openGuard('block', valuesOf('short'), opening)).toBeUndefined();
  expect(reserved).toEqual([]);
});

test('if memory is refused, nothing is built', async () => {
  const opening = { ...openOpening().opening, reserve: () => Promise.reject(new Error('no memory')) };
  await expect(openGuard('block', valuesOf('first-value'), opening)).rejects.toThrow('no memory');
});

test.each<[string, string]>([
  ['letters', 'x'],
  ['slashes', '/'],
  ['control characters', '\u001f'],
  ['signs', "!'"],
  ['two bytes', 'é'],
  ['four bytes', '🔑'],
  ['digits', '12345'],
])('what is reserved suffices for the forms of %s', async (_, unit) => {
  const { reserved, opening } = openOpening();
  const text = unit.repeat(3_000);
  await openGuard('block', valuesOf(text), opening);
  const patterns = run(patternsOf([text]));
  const used = patterns.reduce((sum, { bytes }) => sum + bytes.length, 0);
  expect(reserved[0]).toBeGreaterThan(2 * used);
  expect(reserved[1]).toBe(Automaton.bytesFor(patterns));
});
