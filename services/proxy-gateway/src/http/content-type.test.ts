import { contentKind } from './content-type.ts';

test.each([
  ['application/json charset=utf-8', 'json'],
  ['application/json\tcharset=utf-8', 'json'],
  ['  Application/JSON ; charset=utf-8', 'json'],
  ['application/problem+json charset=utf-8', 'json'],
  ['application/x-ndjson charset=utf-8', 'json-lines'],
  ['application/x-www-form-urlencoded charset=utf-8', 'form'],
  ['multipart/form-data boundary=x', 'multipart'],
  ['application/xml charset=utf-8', 'xml'],
  ['text/html charset=utf-8', 'html'],
  ['text/csv charset=utf-8', 'csv'],
  ['text/plain charset=utf-8', 'text'],
  ['application/octet-stream application/json', 'opaque'],
  ['application/jsonx', 'opaque'],
  ['   ', 'none'],
  [undefined, 'none'],
])('%j is %s', (contentType, kind) => {
  expect(contentKind(contentType)).toBe(kind);
});
