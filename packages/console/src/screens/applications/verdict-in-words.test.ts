import { reasonInWords } from './verdict-in-words.ts';

test.each([
  ['rules[0] (cards) decides: it is the first.', 'Rule 1 (cards) decides: it is the first.'],
  ['The token has no use left (use.max_uses of the token).', 'The token has no use left.'],
  [
    'It may call certain Proxies only, and this is none (field proxies of the Application).',
    'It may call certain Proxies only, and this is none.',
  ],
  ['No rule grants token:use on this token.', 'No rule grants token:use on this token.'],
])('%s', (reason, words) => {
  expect(reasonInWords(reason)).toBe(words);
});
