import type { Database } from '@sluice/database';

export interface Unwitnessed {
  tenantId: string;
  size: number;
  checkpoint: string;
}

export async function listUnwitnessed(db: Database): Promise<Unwitnessed[]> {
  const rows = await db
    .selectFrom('ledgers')
    .select(['tenant_id', 'size', 'checkpoint'])
    .where('checkpoint', 'is not', null)
    .whereRef('size', '>', 'witnessed_size')
    .orderBy('tenant_id')
    .execute();
  return rows.map(({ tenant_id: tenantId, size, checkpoint }) => ({ tenantId, size, checkpoint: checkpoint ?? '' }));
}

export async function noteWitnessed(db: Database, tenantId: string, size: number): Promise<void> {
  await db
    .updateTable('ledgers')
    .set({ witnessed_size: size })
    .where('tenant_id', '=', tenantId)
    .where('witnessed_size', '<', size)
    .execute();
}
