import type { Queryable } from '@sluice/database';
import { type DueKind, deleteExpiredTokens, forgetDue, listDueTenants, removeDueCvcs } from '@sluice/vault';
import { byTenant } from '../by-tenant.ts';
import type { Context } from '../context.ts';

type Sweeping = Pick<Context, 'db' | 'log'>;

/** Only cleans up, because tokens count as absent from `expires_at` on. */
export function sweepExpiredTokens(context: Sweeping): Promise<void> {
  return sweepDue(context, { kind: 'expiry', done: 'tokens expired', doBatch: deleteExpiredTokens });
}

/** For cards; the codes are not shown from `cvc_due_at` on. */
export function sweepDueCvcs(context: Sweeping): Promise<void> {
  return sweepDue(context, { kind: 'cvc', done: 'card verification codes removed', doBatch: removeDueCvcs });
}

interface Sweep {
  kind: DueKind;
  done: string;
  doBatch: (tx: Queryable, tenantId: string) => Promise<number>;
}

async function sweepDue({ db, log }: Sweeping, { kind, done, doBatch }: Sweep): Promise<void> {
  let tokens = 0;
  const sweepTenant = async (tenantId: string) => {
    const swept = await db.transaction().execute((tx) => doBatch(tx, tenantId));
    tokens += swept;
    if (swept === 0) await forgetDue(db, tenantId, kind);
    return swept > 0;
  };
  try {
    await byTenant(await listDueTenants(db, kind), sweepTenant);
  } finally {
    if (tokens > 0) log.info({ tokens }, done);
  }
}
