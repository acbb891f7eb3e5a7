import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Database } from '@sluice/database';
import { sql } from 'kysely';
import { sequenceLog } from './sequence-log.ts';

/** Larger than all buffers between the service and a reader that does not read. @returns its rows. */
export async function fillLog(db: Database, tenantId: string): Promise<number> {
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id, detail)
    select ${tenantId}, 'use', 'proxy', 'p', jsonb_build_object('text', (select string_agg(md5(i || '/' || j), '') from generate_series(1, 400) j))
    from generate_series(1, 1500) i
  `.execute(db);
  return (await sequenceLog(db, tenantId)).size;
}

/** An export whose first piece has come, if it is answered 200. */
export async function beginExport(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const request = get(url, { headers, agent: false });
  request.on('error', () => undefined); // `finishExport` reports it
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode === 200) await once(response, 'readable');
  return response;
}

/** @returns how many lines came, or why it broke off. */
export async function finishExport(response: IncomingMessage): Promise<number | string> {
  let lines = 0;
  try {
    for await (const chunk of response) lines += (chunk as Buffer).toString('latin1').split('\n').length - 1;
    return lines;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
