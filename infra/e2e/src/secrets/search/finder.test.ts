import { createHash } from 'node:crypto';
import { canaryFinder } from './finder.ts';

const card = { name: 'card', value: '4539578763621486', isShort: false };
const text = { name: 'text', value: 'Übergabe "7" a/b+c', isShort: false };
const cvc = { name: 'cvc', value: '7391', isShort: true };

function hitsIn(content: string | Buffer, except: string[] = []) {
  const finder = canaryFinder([card, text, cvc]);
  finder.search('test', 'here', Buffer.from(content), new Set(except));
  return [...new Set(finder.hits.map(({ canary }) => canary))];
}

test.each([
  ['grouped', '4539 5787 6362 1486'],
  ['with dashes', '4539-5787-6362-1486'],
  ['backwards', '6841263678759354'],
  ['all but its end', '453957876362XXXX'],
  ['in hex', Buffer.from(card.value).toString('hex').toUpperCase()],
  ['in base64 of more', Buffer.from(`{"number":"${card.value}"}`).toString('base64')],
  ['in base64url of more', Buffer.from(`??${card.value}`).toString('base64url')],
  ['in JSON escapes', [...card.value].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')],
  ['in UTF-16', Buffer.from(card.value, 'utf16le')],
  ['as a hash without a key', createHash('sha256').update(card.value).digest('hex')],
  ['as the bytes of one', createHash('sha1').update(card.value).digest()],
])('a card number is found %s', (_how, content) => {
  expect(hitsIn(content)).toEqual(['card']);
});

test.each([
  ['in JSON', JSON.stringify({ note: text.value })],
  ['in a URL', `/?note=${encodeURIComponent(text.value)}`],
  ['in a form', new URLSearchParams({ note: text.value }).toString()],
  ['as it is', `note: ${text.value}`],
])('a text is found %s', (_how, content) => {
  expect(hitsIn(content)).toEqual(['text']);
});

test('a verification code is found between quotes and behind its name, and a number that is like it is none', () => {
  expect(hitsIn('{"code":"7391"}')).toEqual(['cvc']);
  expect(hitsIn('cvc: 7391')).toEqual(['cvc']);
  expect(hitsIn(Buffer.from('{"cvc":"7391"}').toString('base64'))).toEqual(['cvc']);
  expect(hitsIn('{"pid":7391,"port":17391}')).toEqual([]);
});

test('what may be here is no hit, and what is near it is none', () => {
  expect(hitsIn(card.value, ['card'])).toEqual([]);
  expect(hitsIn('XXXXXXXXXXXX1486 4539578 sha256')).toEqual([]);
});
