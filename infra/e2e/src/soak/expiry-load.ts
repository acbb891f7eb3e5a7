import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { NoAnswer } from '../cluster/http-client.ts';
import type { Random } from '../random.ts';
import { type Clients, startClients } from '../under-load/clients.ts';
import type { World } from '../under-load/world.ts';

export interface ExpiringApplications extends Clients {
  /** How many were created, and how many rows are there though their moment is longer past than the worker is allowed. */
  check(): Promise<{ created: number; overdue: number }>;
}

const pauseMs = 2000;
const longestLifeMs = 20_000;

/** A client that creates Applications which expire soon. */
export function startExpiringApplications(world: World, random: Random): ExpiringApplications {
  const prefix = `expiring-${randomUUID()}`;
  let created = 0;
  const clients = startClients(1, async (_, signal) => {
    while (!signal.aborted) {
      const expires_at = new Date(Date.now() + random.between(2000, longestLifeMs)).toISOString();
      const body = { name: prefix, type: 'private', permissions: ['token:use'], expires_at };
      if (await isCreated(world, body)) created += 1;
      await wait(pauseMs);
    }
  });
  return {
    ...clients,
    async check() {
      const client = new pg.Client({ connectionString: world.site.stores.databaseUrl });
      await client.connect();
      try {
        const { rows } = await client.query<{ count: number }>(
          `select count(*)::int as count from applications
           where name = $1 and expires_at < now() - interval '60 seconds'`,
          [prefix],
        );
        return { created, overdue: rows[0]?.count ?? 0 };
      } finally {
        await client.end();
      }
    },
  };
}

/** Whether it surely was. What a fault prevents is not created: another one follows. */
async function isCreated({ tryManage }: World, body: object): Promise<boolean> {
  try {
    return (await tryManage('POST', '/applications', body)).status === 201;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}
