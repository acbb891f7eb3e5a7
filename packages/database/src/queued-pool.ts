import { type EndTurn, FairTurns } from '@sluice/fair-turns';
import type pg from 'pg';
import { tenantOfWork } from './tenant-work.ts';
import { TooBusyError } from './too-busy-error.ts';

export interface Queueing {
  /** Maximum of requests of all Tenants that wait for a connection. */
  mostWaiting: number;
  /** Limit for the wait for a free connection. Opening one has its own limit, in the pool's options. */
  waitMs: number;
  /** Whether one Tenant uses at most half of the connections. */
  isShared: boolean;
}

export interface Statements {
  query<R>(query: pg.QueryConfig | pg.QueryArrayConfig): Promise<{ rows: R[] }>;
}

/**
 * In a shared pool one Tenant uses at most half of the connections, however slow its statements are, so the other half
 * remains for others. Free connections go to waiting Tenants in turn. Requests queue here, because the pool's own queue
 * knows no Tenants, and has one limit for waiting and for opening.
 */
export class QueuedPool implements Statements {
  readonly #pool: pg.Pool;
  readonly #turns: FairTurns;
  readonly #ends = new WeakMap<pg.PoolClient, EndTurn>();

  constructor(pool: pg.Pool, { mostWaiting, waitMs, isShared }: Queueing) {
    this.#pool = pool;
    this.#turns = new FairTurns({
      atOnce: pool.options.max,
      ...(isShared && { perKey: shareOf(pool.options.max) }),
      waiting: { most: mostWaiting, forMs: waitMs, refusal: tooManyWait },
    });
    pool.on('release', (_error, client) => this.#ends.get(client)?.());
  }

  get options(): pg.PoolOptions {
    return this.#pool.options;
  }

  get state(): { waiting: number; mostOfOneKey: number } {
    return this.#turns.state;
  }

  /** @throws {TooBusyError} after the time limit, and if too many wait and this Tenant has most of them. */
  async connect(): Promise<pg.PoolClient> {
    const turn = this.#turns.take(tenantOfWork());
    const end = turn instanceof Promise ? await turn : turn;
    try {
      const client = await this.#pool.connect();
      this.#ends.set(client, end);
      return client;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** @throws {TooBusyError} as `connect`. */
  async query<R>(query: pg.QueryConfig | pg.QueryArrayConfig): Promise<{ rows: R[] }> {
    const { rows } = await this.#turns.run(tenantOfWork(), () => this.#pool.query(query));
    return { rows: rows as R[] };
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Half, and one where there is only one. */
function shareOf(poolSize: number): number {
  return Math.max(1, Math.floor(poolSize / 2));
}

function tooManyWait(): TooBusyError {
  const message = 'Too many requests are queued for Postgres; send fewer at a time, or try again later';
  return new TooBusyError('database_connections', message);
}
