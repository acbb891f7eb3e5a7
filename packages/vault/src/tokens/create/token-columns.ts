import { type RawBuilder, sql } from 'kysely';
import type { NewTokenRow } from '../token.queries.ts';

/** Nested lists (`texts`) are sent as JSON. */
const columns = {
  id: 'text',
  type: 'text',
  data_ciphertext: 'bytea',
  cvc_ciphertext: 'bytea',
  cvc_due_at: 'timestamptz',
  mask: 'jsonb',
  containers: 'texts',
  metadata: 'jsonb',
  search_indexes: 'texts',
  search_hashes: 'texts',
  fingerprint: 'text',
  fingerprint_expression: 'text',
  deduplicate: 'boolean',
  expires_at: 'timestamptz',
  use: 'jsonb',
} as const satisfies Partial<Record<keyof NewTokenRow, string>>;

type Column = keyof typeof columns;
const names = Object.keys(columns) as Column[];
const stored = names.filter((name) => name !== 'deduplicate');
const isJson = (name: Column) => columns[name] === 'jsonb' || columns[name] === 'texts';
const refs = (some: readonly Column[]) => sql.join(some.map((name) => sql.ref(name)));

export type ColumnLists = Record<Column, unknown[]>;

/** One list for each column, so that the statement does not depend on the number of tokens. */
export function columnLists(tokens: readonly NewTokenRow[]): ColumnLists {
  const list = (name: Column) =>
    tokens.map(({ [name]: value }) => (isJson(name) && value !== null ? JSON.stringify(value) : value));
  return Object.fromEntries(names.map((name) => [name, list(name)])) as ColumnLists;
}

export function unnested(lists: ColumnLists): RawBuilder<unknown> {
  const list = (name: Column) => sql`${lists[name]}::${sql.raw(isJson(name) ? 'jsonb' : columns[name])}[]`;
  return sql`unnest(${sql.join(names.map(list))}) as each (${refs(names)})`;
}

const isFingerprinted = sql`
  fingerprint_tokens or fingerprint_expression is not null or coalesce(deduplicate, deduplicate_tokens)`;

/** For an INSERT from `each` and `tenant`. */
export const storedNames = refs(stored);
export const storedValues = sql.join(stored.map(storedValue));

function storedValue(name: Column): RawBuilder<unknown> {
  const value = sql.ref(name);
  if (name === 'fingerprint') return sql`case when ${isFingerprinted} then ${value} end`;
  return columns[name] === 'texts' ? sql`array(select jsonb_array_elements_text(${value}))` : value;
}
