import { foreignCharset } from './charset.ts';

test.each([
  undefined,
  'application/json',
  'application/json; charset=utf-8',
  'text/xml;charset="UTF-8"',
  "text/xml; charset='utf8'",
  'text/plain; charset=US-ASCII',
  'application/x-www-form-urlencoded; charset=ISO-8859-1',
  'text/xml; charset=windows-1252; x=1',
  'text/plain; charset=',
  'text/plain; x-charset=gbk',
])('ASCII stays what it is in %s', (contentType) => {
  expect(foreignCharset(contentType)).toBeUndefined();
});

test.each([
  ['application/json; charset=gbk', 'gbk'],
  ['application/json;CHARSET="Big5"', 'Big5'],
  ["text/plain; charset = 'Shift_JIS'", 'Shift_JIS'],
  ['text/plain; charset=utf-8; charset=utf-16', 'utf-16'],
  ['text/plain; charset=IBM037', 'IBM037'],
])('%s is foreign', (contentType, charset) => {
  expect(foreignCharset(contentType)).toBe(charset);
});
