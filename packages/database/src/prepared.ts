import { type Compilable, CompiledQuery, type RawBuilder } from 'kysely';
import type pg from 'pg';
import type { Queryable } from './database.ts';
import { findPool } from './pools.ts';

interface Query<R> extends Compilable<R> {
  execute(): Promise<R[]>;
}

class Placeholder {
  readonly key: string | number;

  constructor(key: string | number) {
    this.key = key;
  }
}

/**
 * A look-up that Postgres plans once for each connection. For hot look-ups by a unique key only, because Postgres ends
 * up with one plan for all values. `name` must be unique, and `build` must pass its arguments unchanged.
 */
export function prepared<A extends unknown[], R>(
  name: string,
  build: (db: Queryable, ...values: A) => Query<R>,
): (db: Queryable, ...values: A) => Promise<R[]> {
  const placeholders = Array.from({ length: build.length - 1 }, (_, index) => new Placeholder(index)) as unknown[] as A;
  const run = named<R>(name, (db) => build(db, ...placeholders).compile());
  return (db, ...values) => run(db, (key) => values[key as number]);
}

/** {@link prepared} for a statement in SQL; `build` reads its values from members of one object. */
export function preparedSql<V extends object, R>(
  name: string,
  build: (values: V) => RawBuilder<R>,
): (db: Queryable, values: V) => Promise<R[]> {
  const placeholders = new Proxy({}, { get: (_, key) => new Placeholder(String(key)) }) as V;
  const run = named<R>(name, (db) => build(placeholders).compile(db));
  return (db, values) => run(db, (key) => Reflect.get(values, key));
}

interface Compiled {
  sql: string;
  parameters: readonly unknown[];
}

function named<R>(name: string, compile: (db: Queryable) => Compiled) {
  let compiled: Compiled | undefined;
  return async (db: Queryable, readValue: (key: string | number) => unknown): Promise<R[]> => {
    compiled ??= compile(db.withoutPlugins());
    const { sql: text, parameters } = compiled;
    names.set(text, name);
    const values = parameters.map((value) => (value instanceof Placeholder ? readValue(value.key) : value));
    const pool = findPool(db);
    if (pool) return (await pool.query<R>({ name, text, values })).rows;
    return (await db.executeQuery<R>(CompiledQuery.raw(text, values))).rows;
  };
}

/** By text, because in a transaction Kysely sends the text alone. */
const names = new Map<string, string>();

/** Sends prepared statements by name, in transactions too. */
export function nameStatements(client: pg.ClientBase): void {
  const send = client.query;
  client.query = ((first: unknown, ...others: unknown[]) => {
    const name = typeof first === 'string' ? names.get(first) : undefined;
    const query = name === undefined ? [first, ...others] : [{ name, text: first, values: others[0] }];
    return Reflect.apply(send, client, query);
  }) as typeof client.query;
}
