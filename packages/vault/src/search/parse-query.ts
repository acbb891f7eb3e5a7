import { QueryReader } from './query-reader.ts';

export const searchFields = [
  'id',
  'type',
  'data',
  'fingerprint',
  'container',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

export type SearchField = (typeof searchFields)[number];

export interface Text {
  text: string;
  at: number;
}

/** `field:value`. An unquoted value that ends with `*` is a prefix. */
export interface Term {
  kind: 'term';
  field: SearchField | 'metadata';
  /** The key of metadata; empty for other fields. */
  key: string;
  value: Text;
  isPrefix: boolean;
}

export interface Range {
  kind: 'range';
  field: SearchField;
  from: Text;
  to: Text;
}

export type Query = Term | Range | { kind: 'not'; operand: Query } | { kind: 'and' | 'or'; operands: readonly Query[] };

const deepest = 20;

/**
 * NOT binds more strongly than AND, AND than OR; all three are upper case. A value is a run of characters other than
 * spaces, quotes and brackets, or any text in double quotes, where a backslash escapes a quote or a backslash.
 *
 *     query = all *( "OR" all )
 *     all   = one *( "AND" one )
 *     one   = "NOT" one / "(" query ")" / field ":" ( value / "[" value "TO" value "]" )
 *
 * @param fields which may be named beside metadata.
 */
export function parseQuery(text: string, fields: readonly SearchField[] = searchFields): Query {
  const reader = new QueryReader(text, fields);
  const query = readAny(reader, 0);
  if (!reader.isAtEnd()) throw reader.expected('"AND", "OR" or the end');
  return query;
}

function readAny(reader: QueryReader, depth: number): Query {
  return readList(reader, { kind: 'or', word: 'OR', read: () => readAll(reader, depth) });
}

function readAll(reader: QueryReader, depth: number): Query {
  return readList(reader, { kind: 'and', word: 'AND', read: () => readOne(reader, depth) });
}

interface ListOptions {
  kind: 'and' | 'or';
  word: string;
  read: () => Query;
}

function readList(reader: QueryReader, { kind, word, read }: ListOptions): Query {
  const first = read();
  const operands = [first];
  while (reader.takeWord(word)) operands.push(read());
  return operands.length === 1 ? first : ({ kind, operands } as Query);
}

function readOne(reader: QueryReader, depth: number): Query {
  reader.skipSpace();
  if (depth === deepest) throw reader.fault(`is nested deeper than ${deepest} levels`);
  if (reader.takeWord('NOT')) return { kind: 'not', operand: readOne(reader, depth + 1) };
  if (!reader.take('(')) return readComparison(reader);
  const query = readAny(reader, depth + 1);
  if (!reader.take(')')) throw reader.expected('"AND", "OR" or ")"');
  return query;
}

function readComparison(reader: QueryReader): Term | Range {
  const { field, key } = readField(reader);
  if (reader.takeNow('[')) {
    if (field !== 'created_at' && field !== 'modified_at') throw reader.fault('only dates have ranges', -1);
    return readRange(reader, field);
  }
  const at = reader.position;
  const quoted = reader.takeQuoted();
  const bare = quoted === undefined ? reader.takeBare() : undefined;
  if (bare === '') throw reader.expected('a value');
  const star = bare?.indexOf('*') ?? -1;
  if (bare !== undefined && star !== -1 && (field !== 'container' || star !== bare.length - 1)) {
    throw reader.fault(
      '* is allowed only at the end of a container; if another value contains *, put the value in quotes',
      star - bare.length,
    );
  }
  const isPrefix = star !== -1;
  const text = quoted ?? (isPrefix ? bare?.slice(0, -1) : bare) ?? '';
  return { kind: 'term', field, key, value: { text, at }, isPrefix };
}

function readField(reader: QueryReader): Pick<Term, 'field' | 'key'> {
  reader.skipSpace();
  const name = reader.takeName();
  const start = -name.length;
  if (name === 'metadata' && reader.takeNow('.')) {
    const key = reader.takeQuoted() ?? reader.takeKey();
    if (key === '') throw reader.expected('a key of metadata');
    if (!reader.takeNow(':')) throw reader.expected('":"');
    return { field: 'metadata', key };
  }
  const field = searchFields.find((known) => known === name);
  if (!field || !reader.fields.includes(field))
    throw reader.expected(`one of ${reader.fields.join(', ')}, metadata.<key>, "NOT" or "("`, start);
  if (!reader.takeNow(':')) throw reader.expected('":"');
  return { field, key: '' };
}

function readRange(reader: QueryReader, field: SearchField): Range {
  const from = readBound(reader);
  if (!reader.takeWord('TO')) throw reader.expected('"TO"');
  const to = readBound(reader);
  if (!reader.take(']')) throw reader.expected('"]"');
  return { kind: 'range', field, from, to };
}

function readBound(reader: QueryReader): Text {
  reader.skipSpace();
  const at = reader.position;
  const text = reader.takeQuoted() ?? reader.takeBare();
  if (text === '') throw reader.expected('a date');
  return { text, at };
}
