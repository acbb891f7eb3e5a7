import pg from 'pg';
import type { Site } from '../cluster/site.ts';

/**
 * Which of the trace ids have no row in the audit log, though something was disclosed under each. Rows come a little
 * later than the disclosure: they are waited for.
 */
export async function findUnrecorded({ stores }: Site, traceIds: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  try {
    const until = performance.now() + 5000;
    for (;;) {
      const { rows } = await client.query<{ id: string }>(
        `select id from unnest($1::text[]) as disclosed(id)
         where not exists (select from audit_log where trace_id = disclosed.id)`,
        [traceIds],
      );
      if (rows.length === 0 || performance.now() > until) return rows.map(({ id }) => id);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    await client.end();
  }
}
