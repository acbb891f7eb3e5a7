import { isDeepStrictEqual } from 'node:util';
import { type RecordedChange, tagOf } from '@sluice/cache-coherence';
import type { LockedRows } from '@sluice/database';
import type { Acting } from '@sluice/http-api';
import { changeRows } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { readName } from '../read-name.ts';
import { recordAct } from '../record-act.ts';
import { checkDefinition, checkOwnCode, type ReactorDefinition } from './reactor.definition.ts';
import { findReactor, lockReactor, type ReactorRow, reactorNotFound, updateReactor } from './reactor.queries.ts';
import { toColumns, toDefinition } from './reactor.secrets.ts';

/** If another request has changed the row during the checks, they are repeated: at most this many attempts in all. */
const mostAttempts = 10;

/** Stands in for a missing reactor, so that a fault in the body is 400 before the unknown id is 404. */
const blank: ReactorDefinition = { name: 'blank', code: 'blank', retryable: false };

export const rowOf = (tenantId: string, id: string): LockedRows => ({ tenantId, rows: [`reactor/${id}`] });

/** `next` makes the new definition from the current one. The caller waits for the barrier. @throws {ServiceError} */
export async function changeReactor(
  acting: Acting,
  { id, next }: { id: string; next: (current: ReactorDefinition) => ReactorDefinition },
  context: Context,
): Promise<{ row: ReactorRow; change: RecordedChange }> {
  const { db, vault, changes } = context;
  const { tenantId } = acting.caller;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const current = await findReactor(db, tenantId, id);
    const wanted = next(current ? await toDefinition(vault, current) : blank);
    const named = { ...wanted, name: readName(wanted.name, current?.name) };
    const definition = await checkDefinition(named, tenantId, context);
    if (!current) throw reactorNotFound(id);
    acting.requireVersion(current); // the transaction requires that the row has not changed since
    await checkOwnCode(definition, tenantId, context);
    const columns = { ...(await toColumns(vault, { tenantId, id }, definition)), modified_by: acting.caller.id };
    const changed = await changeRows(db, rowOf(tenantId, id), async (tx) => {
      // The slow checks ran before this transaction. If the row has changed since, they are repeated on the new row
      if (!isDeepStrictEqual(await lockReactor(tx, tenantId, id), current)) return undefined;
      const row = await updateReactor(tx, { tenantId, id }, columns);
      if (!row) throw reactorNotFound(id);
      await recordAct(tx, acting, { operation: 'update', entityType: 'reactor', entityId: id });
      return { row, change: await changes.record(tx, tenantId, [tagOf.reactor(id)]) };
    });
    if (changed) return changed;
  }
  const detail = `Reactor ${id} is being changed by other requests; try again`;
  throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}
