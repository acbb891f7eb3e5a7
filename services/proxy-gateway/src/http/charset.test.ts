import { charsetOfXml, foreignCharset } from './charset.ts';

test.each([
  undefined,
  '',
  'application/json',
  'text/plain; charset=utf-8',
  'text/plain;charset=UTF8',
  'text/plain; Charset="UTF-8"',
  "text/plain; charset='utf-8'",
  'text/plain; charset = utf-8 ; x=y',
  'text/plain; charset=us-ascii',
  'text/plain; charset=',
  'text/plain; x-charset=gbk',
])('%j is UTF-8 or says nothing', (type) => {
  expect(foreignCharset(type)).toBeUndefined();
});

test.each([
  ['text/plain; charset=iso-8859-1', 'iso-8859-1'],
  ['application/json;CHARSET="GBK";x=y', 'GBK'],
  ['application/json; charset=big5, utf-8', 'big5'],
  ['text/plain; charset=utf-8; charset=utf-16', 'utf-16'],
  ['multipart/form-data; charset = Shift_JIS; boundary=x', 'Shift_JIS'],
])('%j is another charset', (type, charset) => {
  expect(foreignCharset(type)).toBe(charset);
});

test.each([
  ['<?xml version="1.0" encoding="ISO-8859-1"?><a/>', 'ISO-8859-1'],
  ["\xef\xbb\xbf<?xml version='1.0' encoding = 'gbk' standalone='no'?>", 'gbk'],
  ['<?xml version="1.0" encoding="utf-8"?>', undefined],
  ['<?xml version="1.0"?><a encoding="gbk"/>', undefined],
  ['<a encoding="gbk"/>', undefined],
])('the declaration of %j says %j', (text, charset) => {
  expect(charsetOfXml(text)).toBe(charset);
});
