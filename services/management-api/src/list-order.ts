import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

type TextColumn = 'name' | 'email';
type Sort = 'created_at' | '-created_at' | TextColumn | `-${TextColumn}`;

export interface Sorted {
  /** Default: newest first. */
  sort?: Sort | undefined;
}

export const sortByName = {
  type: 'string',
  enum: ['created_at', '-created_at', 'name', '-name'],
  default: '-created_at',
  description:
    'Order of the list: by time of creation or by name. With `-` the order is descending. Default: newest first. Names are compared in lower case, by Unicode code point. Items with equal names are ordered by id',
} as const;

export const sortByEmail = {
  type: 'string',
  enum: ['created_at', '-created_at', 'email', '-email'],
  default: '-created_at',
  description:
    'Order of the list: by time of creation or by e-mail address. With `-` the order is descending. Default: newest first. Addresses are compared in lower case, by Unicode code point. Items with equal addresses are ordered by id. Items without an address are last with `email`, and first with `-email`',
} as const;

type Table = 'applications' | 'proxies' | 'reactors' | 'reactor_formulas' | 'members' | 'invitations' | 'sign_ins';

/** The id is compared last, so that no item is on two pages. The names of a table have an index `<table>_by_name` in this order. */
export function inOrder(
  { sort = '-created_at' }: Sorted,
  table: Table,
  text: RawBuilder<unknown> = sql.ref(`${table}.name`),
) {
  const direction = sort.startsWith('-') ? 'desc' : 'asc';
  const key = sort.endsWith('created_at') ? sql.ref(`${table}.created_at`) : sql`lower(${text}) collate "C"`;
  return <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>) =>
    query.orderBy(key, direction).orderBy(sql.ref(`${table}.id`), direction);
}
