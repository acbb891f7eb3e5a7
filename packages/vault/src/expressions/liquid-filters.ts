import type { Json } from '../json.ts';
import type { ArgumentCheck, FilterRecord } from './filter-record.ts';

const needsText: ArgumentCheck = ([text]) => (text === undefined ? 'needs a text' : undefined);
const needsTwoTexts: ArgumentCheck = ({ length }) => (length < 2 ? 'needs two texts' : undefined);
const needsInteger: ArgumentCheck = ([number]) => (Number.isInteger(number) ? undefined : 'needs a whole number');

type More = Pick<FilterRecord, 'check' | 'grows'> & { takes?: string };

function liquid(name: string, gives: string, example: [filters: string, data: Json, result: Json], more: More = {}) {
  const [filters, data, result] = example;
  return { name, takes: '', gives, example: { filters, data, result }, ...more } satisfies FilterRecord;
}

export const liquidFilters: readonly FilterRecord[] = [
  liquid(
    'slice',
    'the characters or elements from this position. A negative position counts from the end',
    ['slice: 0, 6', '4242424242424242', '424242'],
    {
      takes: 'position, count (default 1)',
      check: ([begin, ...rest]) => needsInteger([begin]) ?? (rest.length > 0 ? needsInteger(rest) : undefined),
    },
  ),
  liquid('split', 'an array of the parts', ["split: '/'", '12/2030', ['12', '2030']], {
    takes: 'separator',
    check: needsText,
    grows: true,
  }),
  liquid('join', 'the elements of an array as one text', ["join: '-'", ['12', '2030'], '12-2030'], {
    takes: 'separator (default: a blank)',
    grows: true,
  }),
  liquid('first', 'the first element of an array; nothing for text', ["split: ' ' | first", 'Ada Lovelace', 'Ada']),
  liquid('last', 'the last element of an array; nothing for text', ["split: ' ' | last", 'Ada Lovelace', 'Lovelace']),
  liquid('size', 'the number of characters or elements, 0 for other values', ['size', '4242', 4]),
  liquid('upcase', 'the text in upper case', ['upcase', 'de89', 'DE89']),
  liquid('downcase', 'the text in lower case', ['downcase', 'Ada@Example.com', 'ada@example.com']),
  liquid('capitalize', 'the first character in upper case, others in lower', ['capitalize', 'ADA', 'Ada']),
  liquid('strip', 'the text without these characters at both ends', ['strip', ' 4242 ', '4242'], stripped()),
  liquid('lstrip', 'the text without these characters at its beginning', ['lstrip', ' 42 ', '42 '], stripped()),
  liquid('rstrip', 'the text without these characters at its end', ['rstrip', ' 42 ', ' 42'], stripped()),
  liquid('replace', 'the text with each occurrence replaced', ["replace: ' ', '-'", '4242 4242', '4242-4242'], {
    takes: 'text to find, replacement',
    check: needsTwoTexts,
    grows: true,
  }),
  liquid('remove', 'the text without each occurrence', ["remove: '-'", '123-45-6789', '123456789'], {
    takes: 'text to find',
    check: needsText,
  }),
  liquid('append', 'the text, then the argument', ["append: '00'", '12', '1200'], {
    takes: 'text',
    check: needsText,
  }),
  liquid('prepend', 'the argument, then the text', ["prepend: '+49'", '30123456', '+4930123456'], {
    takes: 'text',
    check: needsText,
  }),
  liquid('truncate', 'the text cut to the length, which includes the end text', ['truncate: 6', 'Lovelace', 'Lov...'], {
    takes: "length (default 50), end text (default `'...'`)",
    check: (args) => (args.length > 0 ? needsInteger(args) : undefined),
  }),
  liquid('base64_encode', 'the text in base64', ["prepend: 'id:' | base64_encode", 'secret', 'aWQ6c2VjcmV0'], {
    grows: true,
  }),
  liquid('default', 'the argument if the value is null, false or empty', ["default: 'none'", null, 'none'], {
    takes: 'value',
  }),
];

function stripped(): More {
  return { takes: 'characters (default: white space)' };
}
