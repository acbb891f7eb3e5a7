import type { Database } from '@sluice/database';
import { sql } from 'kysely';
import type { Caller } from './find-caller.ts';

const writeEveryMs = 60_000;
const mostKeys = 10_000;
const hourMs = 3_600_000;

interface KeyUse {
  tenant_id: string;
  application_id: string;
  key_id: string;
  /** The beginning of the hour. */
  at: string;
}

export interface KeyUsesOptions {
  /** Not the requests' own pool, so that neither waits for the other. */
  db: Database;
  stack: AsyncDisposableStack;
  /** Of a write. Its notes are kept and written later. */
  onError: (error: unknown) => void;
  intervalMs?: number;
  limit?: number;
  now?: () => number;
}

/**
 * Notes which keys of Applications are used, to the hour. A request costs one look into a map, and a key's first use in
 * each hour one entry; all entries are written together, once a minute. While Postgres is unavailable they wait, and
 * requests do not. If too many wait, further keys are not noted; their next use is.
 */
export class KeyUses {
  readonly #limit: number;
  readonly #now: () => number;
  /** The hour that was last noted, by key. */
  readonly #hours = new Map<string, number>();
  #waiting = new Map<string, KeyUse>();
  /** What the current write carries; still memory. */
  #writing: ReadonlyMap<string, KeyUse> = new Map();
  #failedWrites = 0;

  constructor({ limit = mostKeys, now = Date.now }: Pick<KeyUsesOptions, 'limit' | 'now'> = {}) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Keys whose use is not yet in Postgres. */
  get waiting(): number {
    return this.#waiting.size + this.#writing.size;
  }

  get failedWrites(): number {
    return this.#failedWrites;
  }

  /** `caller` has presented its key. A session has no key of an Application, so its uses count for none. */
  note({ tenantId, id, keyId }: Pick<Caller, 'tenantId' | 'id' | 'keyId'>): void {
    if (keyId === undefined) return;
    const hour = Math.floor(this.#now() / hourMs);
    if (this.#hours.get(keyId) === hour) return;
    if (this.waiting >= this.#limit && !this.#waiting.has(keyId)) return;
    if (this.#hours.size >= this.#limit) this.#hours.clear();
    this.#hours.set(keyId, hour);
    const at = new Date(hour * hourMs).toISOString();
    this.#waiting.set(keyId, { tenant_id: tenantId, application_id: id, key_id: keyId, at });
  }

  /** @throws errors of `write`; what was to be written then waits again. */
  async write(write: (uses: KeyUse[]) => Promise<void>): Promise<void> {
    if (this.#waiting.size === 0) return;
    this.#writing = this.#waiting;
    this.#waiting = new Map();
    try {
      await write([...this.#writing.values()]);
    } catch (error) {
      this.#failedWrites += 1;
      // A key that was used again meanwhile has a later hour.
      this.#waiting = new Map([...this.#writing, ...this.#waiting]);
      throw error;
    } finally {
      this.#writing = new Map();
    }
  }
}

/** Disposal writes what waits. */
export function openKeyUses({ db, stack, onError, intervalMs = writeEveryMs, ...options }: KeyUsesOptions): KeyUses {
  const uses = new KeyUses(options);
  let writing: Promise<void> | undefined;
  const write = () => {
    writing ??= uses
      .write((batch) => writeUses(db, batch))
      .catch(onError)
      .finally(() => {
        writing = undefined;
      });
    return writing;
  };
  const timer = setInterval(write, intervalMs);
  stack.defer(async () => {
    clearInterval(timer);
    await writing;
    await write();
  });
  return uses;
}

/**
 * A deletion of keys deletes their rows here while it holds their locks. This statement takes the same locks first and
 * waits for none, so the two can never wait for each other; a key that is being deleted is left out. Statements of two
 * processes write in the same order. A process whose clock is ahead must not hide later uses, so no hour is in the future.
 */
async function writeUses(db: Database, uses: readonly KeyUse[]): Promise<void> {
  await sql`
    insert into key_uses (tenant_id, application_id, key_id, last_used_at)
    select key.tenant_id, key.application_id, key.id, least(used.at, date_trunc('hour', statement_timestamp(), 'UTC'))
    from jsonb_to_recordset(${JSON.stringify(uses)}::jsonb)
      as used(tenant_id uuid, application_id uuid, key_id uuid, at timestamptz)
    join application_keys as key on key.tenant_id = used.tenant_id
      and key.application_id = used.application_id and key.id = used.key_id
    order by key.tenant_id, key.application_id, key.id
    for key share of key skip locked
    on conflict (tenant_id, application_id, key_id) do update set last_used_at = excluded.last_used_at
    where key_uses.last_used_at < excluded.last_used_at
  `.execute(db);
}
