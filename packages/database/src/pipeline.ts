import type pg from 'pg';
import type { Database } from './database.ts';
import { poolOf } from './pools.ts';

/** A transaction whose statements may be sent before the last one is answered. It takes those of `preparedSql`. */
export class Pipeline {
  readonly db: Database;
  readonly client: pg.ClientBase;

  constructor(db: Database, client: pg.ClientBase) {
    this.db = db;
    this.client = client;
  }
}

/** What was sent and is not answered yet. In an object, since a promise in a promise would be waited for. */
export interface Sent<T> {
  answer: Promise<T>;
}

/**
 * Runs `work` in a transaction of its own that takes two trips to Postgres: the beginning goes with the first statement,
 * and the end with what `work` has sent when it resolves. A statement that fails makes the end a rollback.
 */
export async function pipelinedTransaction<T>(db: Database, work: (tx: Pipeline) => Promise<Sent<T>>): Promise<T> {
  const client = await poolOf(db).connect();
  let broken: unknown;
  try {
    const begun = client.query('begin');
    const [{ answer }] = await Promise.all([work(new Pipeline(db, client)), begun]);
    const [result] = await Promise.all([answer, client.query('commit')]);
    return result;
  } catch (error) {
    await client.query('rollback').catch((cause: unknown) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken instanceof Error ? broken : broken !== undefined);
  }
}
