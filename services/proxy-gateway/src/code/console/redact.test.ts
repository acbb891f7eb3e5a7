import type { Pieces } from '@sluice/service-runtime';
import fc from 'fast-check';
import { redactConsole, redactedMark, withheldMark } from './redact.ts';
import { ConsoleSecrets } from './secrets.ts';

function inOnePiece<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const card = '4242424242424242';
const texts = (printed: string[], secrets: unknown[] = [card, 'sk_live_configured-Value 9']) => {
  const known = new ConsoleSecrets();
  for (const secret of secrets) known.add(secret);
  const lines = printed.map((text) => ({ level: 'info' as const, text }));
  return inOnePiece(redactConsole(lines, known.texts())).map(({ text }) => text);
};

test('what is no secret stays as it is', () => {
  const printed = [
    'order 1250 EUR',
    '{ a: [ 1, 2 ] }',
    'last four 4242',
    '2026-11-21T10:00:00Z',
    '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73',
  ];
  expect(texts(printed)).toEqual(printed);
});

test('a secret gives way to a mark, in any case, and the rest of the line stays', () => {
  expect(texts([`number ${card}!`, 'key=SK_LIVE_CONFIGURED-value 9.'])).toEqual([
    `number ${redactedMark}!`,
    `key=${redactedMark}.`,
  ]);
});

test('short ones give way where they stand alone', () => {
  expect(texts(['cvc 123, 12/2040, 1234, x12'], ['123', 12])).toEqual([
    `cvc ${redactedMark}, ${redactedMark}/2040, 1234, x12`,
  ]);
});

test('a secret that is the beginning of another does not uncover its end', () => {
  expect(texts(['abcdefgh'], ['abcd', 'abcdefgh'])).toEqual([redactedMark]);
});

test.each([
  ['spaced', '42424 24242 424242'],
  ['dashed', '4-2-4-2-4-2-4-2-4-2-4-2-4-2-4-2'],
  ['cut off', `starts with ${card.slice(0, 9)}`],
  ['in a URL', encodeURIComponent('sk_live_configured-Value 9')],
  ['in a form', new URLSearchParams({ key: 'sk_live_configured-Value 9' }).toString()],
  ['grouped twice', '4242 - 4242 - 4242 - 4242'],
])('not shown: %s', (_, text) => {
  const [before, shown = '', after] = texts(['before', text, 'after']);
  expect([before, after]).toEqual(['before', 'after']);
  expect(shown).toContain(redactedMark);
  expect(shown.replace(/[^0-9A-Za-z]/g, '')).not.toMatch(/4242|3432|NDI|QyND|configured/i);
});

test.each([
  ['in hexadecimal', Buffer.from(card).toString('hex')],
  ['as a buffer', '<Buffer 34 32 34 32 34 32 34 32 34 32 34 32 34 32 34 32>'],
  ['in hexadecimal of upper case', Buffer.from(card).toString('hex').toUpperCase()],
  ['as a buffer that is cut', `<Buffer ${'34 32 '.repeat(7)} ... 2 more bytes>`],
  ['in base64', Buffer.from(card).toString('base64')],
  ['within base64', Buffer.from(`x${card}yz`).toString('base64')],
  ['within base64url', Buffer.from(`ab${card}`).toString('base64url')],
])('withheld, with what was encoded beside it: %s', (_, text) => {
  expect(texts(['before', `a ${text} b`, 'after'])).toEqual(['before', withheldMark, 'after']);
});

test('escaped for JSON', () => {
  const secret = 'line one\nand "two"\\';
  const [text] = texts([JSON.stringify({ secret })], [secret]);
  expect(text).toBe(`{"secret":"${redactedMark}"}`);
});

test('keys and card numbers give way though nobody named them', () => {
  const printed = [
    `key svc_live_prv_${'a1B'.repeat(16)}x`,
    'proxy ABCDEFGHabcdefgh0123456789ABCDEF',
    'card 5555 5555 5555 4444',
    'UnionPay, without a check digit 6212345678900000001',
    'Maestro 501000000007',
    'number 5555555555554445',
  ];
  expect(texts(printed, [])).toEqual([
    `key ${redactedMark}`,
    `proxy ${redactedMark}`,
    `card ${redactedMark}`,
    `UnionPay, without a check digit ${redactedMark}`,
    `Maestro ${redactedMark}`,
    'number 5555555555554445',
  ]);
});

test('a cvc that nobody named gives way after its name, and other numbers stay', () => {
  expect(texts(["{ cvc: '737', order: 737 }", '{"securityCode":"7373"}', 'CVV2=123', 'cvc 12345: 99999'], [])).toEqual([
    `{ cvc: '${redactedMark}', order: 737 }`,
    `{"securityCode":"${redactedMark}"}`,
    `CVV2=${redactedMark}`,
    'cvc 12345: 99999',
  ]);
  expect(
    texts(['cvc 737', "CVV '7373'", 'csc\t737, order 737', 'cvc2  737', 'cvc of 737', 'mycvc 737', 'cvc7 737'], []),
  ).toEqual([
    `cvc ${redactedMark}`,
    `CVV '${redactedMark}'`,
    `csc\t${redactedMark}, order 737`,
    `cvc2  ${redactedMark}`,
    'cvc of 737',
    'mycvc 737',
    'cvc7 737',
  ]);
});

test('members at any depth are secrets; too many, and nothing is shown', () => {
  expect(texts(['deep-secret 987654'], [{ a: [{ b: 'deep-secret' }, 987654] }])).toEqual([
    `${redactedMark} ${redactedMark}`,
  ]);
  expect(texts(['anything'], ['x'.repeat(9_000)])).toEqual([withheldMark]);
  expect(texts(['anything'], [Array.from({ length: 5_000 }, (_, index) => `secret ${index}`)])).toEqual([withheldMark]);
});

test('names that are no text of a pattern, and every character, are taken literally', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, unit: 'grapheme' }), fc.string(), fc.string(), (secret, before, after) => {
      const [text = ''] = texts([`${before}${secret}${after}`], [secret]);
      fc.pre(
        secret.trim().length >= 4 && !redactedMark.includes(secret.trim()) && !withheldMark.includes(secret.trim()),
      );
      expect(text.includes(secret.trim())).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test('as many secrets as are looked for, in 16 KiB, are work of many pieces', () => {
  const secrets = Array.from({ length: 1300 }, (_, at) => (at + 46_656).toString(36).padStart(6, 'q'));
  const work = redactConsole([{ level: 'info', text: 'no secret '.repeat(1600) }], secrets);
  let pieces = 1;
  while (!work.next().done) pieces += 1;
  expect(pieces).toBeGreaterThan(20);
});
