import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorCode, LaunchError, messageOf } from '../launch-error.ts';
import { describeEnd, hasEnded, lastLines } from '../processes/child.ts';

export interface StartingPostgres {
  child: ChildProcess;
  url: string;
  logFile: string;
  signal: AbortSignal | undefined;
}

/** Generous, because recovery after a crash may take long. */
const readyWithinMs = 60_000;

/** Resolves when the server answers and the URL's database exists; creates the database if needed. */
export async function untilPostgresAnswers({ child, url, logFile, signal }: StartingPostgres): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  for (;;) {
    signal?.throwIfAborted();
    if (hasEnded(child)) {
      throw new LaunchError(`Postgres did not start (${describeEnd(child)}):\n${await lastLines(logFile)}`);
    }
    const failure = await tryDatabase(url);
    if (failure === undefined) return;
    if (performance.now() > deadline || errorCode(failure)?.startsWith('28')) {
      throw new LaunchError(`Postgres cannot be used (${messageOf(failure)}); its log is ${logFile}`, {
        cause: failure,
      });
    }
    await sleep(20);
  }
}

/** @returns the failure; undefined when the database exists. */
async function tryDatabase(url: string): Promise<unknown> {
  const database = new URL(url).pathname.slice(1);
  const client = new pg.Client({ connectionString: new URL('/postgres', url).href, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined); // the failing call reports it
  try {
    await client.connect();
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await client.end();
  }
}
