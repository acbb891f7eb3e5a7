import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { hmacText } from './hmac-text.ts';

test.each([1, 20, 32, 63, 64, 65, 131, 1000])('is what Node says, for a key of %i bytes', (length) => {
  const key = createSecretKey(randomBytes(length));
  const texts = [
    '',
    'a',
    'svc_live_prv_0123456789',
    'ä€😀',
    '\ud800',
    '€'.repeat(128),
    '€'.repeat(129),
    'x'.repeat(500),
  ];
  for (const text of [...texts, '']) {
    expect(hmacText(key, text)).toBe(createHmac('sha256', key).update(text).digest('latin1'));
  }
});

test('keys do not get into each other', () => {
  const [a, b] = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))];
  const first = hmacText(a, 'text');
  expect(hmacText(b, 'text')).not.toBe(first);
  expect(hmacText(a, 'text')).toBe(first);
});

test('the key is not left in the memory that buffers share', () => {
  const key = randomBytes(32);
  for (let i = 0; i < 5; i++) hmacText(createSecretKey(key), 'text');
  const shared = Buffer.from(Buffer.allocUnsafe(1).buffer);
  for (const pad of [0x36, 0x5c]) expect(shared.includes(key.map((byte) => byte ^ pad))).toBe(false);
});

/** RFC 4231, test cases 2 and 6. */
test.each([
  [
    Buffer.from('Jefe'),
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    Buffer.alloc(131, 0xaa),
    'Test Using Larger Than Block-Size Key - Hash Key First',
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
])('gives the published value %#', (key, text, expected) => {
  expect(Buffer.from(hmacText(createSecretKey(key), text), 'latin1').toString('hex')).toBe(expected);
});
