import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { absent, type RecordedChange, requireEveryLeaseKnows, tagOf } from '@sluice/cache-coherence';
import { type LockedRows, listProxyMembers } from '@sluice/database';
import { type Acting, changeRows, type SettleAnswer } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import type { Vault } from '@sluice/vault';
import type { Context } from '../context.ts';
import { readName } from '../read-name.ts';
import { recordAct } from '../record-act.ts';
import { checkDefinition, checkTransforms, isProxyDefinition, type ProxyDefinition } from './proxy.definition.ts';
import { findProxy, lockProxy, type ProxyRow, updateProxy } from './proxy.queries.ts';
import { restrictionsOf } from './proxy.restrictions.ts';
import { encryptVersion, toColumns, toDefinition, toProxy } from './proxy.secrets.ts';
import { type FormerVersion, insertVersion } from './proxy-version.queries.ts';

export function proxyNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Proxy ${id} does not exist`);
}

export const rowOfProxy = (tenantId: string, id: string): LockedRows => ({ tenantId, rows: [`proxy/${id}`] });

export interface ProxyChange {
  /** Makes the new definition from the current one, which is undefined if the Proxy does not exist. */
  define(current: ProxyDefinition | undefined): unknown;
  /** Whether the change says which Application the Proxy names, or none. */
  namesApplication: boolean;
  /** The Application that the Proxy names although it is gone, where the change brings it back. */
  formerApplicationId?: string | undefined;
  /** The name was stored before, so it may be older than the rules for names. */
  keepsName?: boolean;
  /** For the audit row. */
  detail?: Record<string, unknown>;
  /** Stores the response for replays. */
  settle?: SettleAnswer | undefined;
}

/** If another request has changed the row during the checks, they are repeated: at most this many attempts in all. */
const mostAttempts = 10;

/**
 * Changes the Proxy, and stores its former state as a version unless nothing differs. The slow checks run before the
 * transaction, and again if the row has changed since.
 * @throws {ServiceError} `validation_failed`, then `not_found`, then `transform_does_not_compile`, then `conflict`.
 */
export async function changeProxy(
  context: Context,
  input: Acting & { params: { id: string } },
  { define, namesApplication, formerApplicationId, keepsName, detail, settle }: ProxyChange,
): Promise<{ updated: ProxyRow; change: RecordedChange }> {
  const { db, vault, changes } = context;
  const { tenantId, id: callerId } = input.caller;
  const { id } = input.params;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const current = await findProxy(db, tenantId, id);
    const before = current && (await toDefinition(vault, current));
    const definition = define(before);
    isProxyDefinition(definition);
    definition.name = readName(definition.name, keepsName ? definition.name : before?.name);
    await checkDefinition(definition, tenantId, context);
    if (!current || !before) throw proxyNotFound(id);
    input.requireVersion(current); // the transaction requires that the row has not changed since
    await checkTransforms(definition, tenantId, context);
    const named = namesApplication ? (definition.application?.id ?? formerApplicationId ?? null) : namedBy(current);
    const columns = { ...(await toColumns(vault, tenantId, id, definition)), named_application_id: named };
    const changed = changedMembers(naming(before, namedBy(current)), naming(definition, named));
    const former = changed.length > 0 ? await toFormer(vault, current, before) : undefined;
    const version = former && { version: current.version + 1, changed_members: changed };
    const done = await changeRows(db, { ...rowOfProxy(tenantId, id), settle }, async (tx) => {
      if (!isDeepStrictEqual(await lockProxy(tx, tenantId, id), current)) return undefined;
      await requireEveryLeaseKnows(tx, restrictionsOf(before, definition));
      if (former) await insertVersion(tx, former);
      const updated = await updateProxy(tx, tenantId, id, { ...columns, ...version, modified_by: callerId });
      if (!updated) throw proxyNotFound(id);
      const act = { operation: 'update', entityType: 'proxy', entityId: id } as const;
      await recordAct(tx, input, { ...act, ...(detail && { detail }) });
      // A gateway may have remembered that no Proxy has this name
      const named = definition.path_name !== before.path_name ? [absent] : [];
      const change = await changes.record(tx, tenantId, [tagOf.proxy(id), ...named]);
      return { updated, answer: settle && (await toProxy(vault, updated)), change };
    });
    if (done) return done;
  }
  const detailOfRefusal = `Proxy ${id} is being changed by other requests; try again`;
  throw new ServiceError('unavailable', detailOfRefusal, { retryAfterSeconds: 1 });
}

/** The Application that it names, also where that is gone. A version before the column changes `application_id` alone. */
export function namedBy({ application_id, named_application_id }: ProxyRow): string | null {
  return application_id ?? named_application_id;
}

function naming({ application: _, ...definition }: ProxyDefinition, id: string | null): ProxyDefinition {
  return id === null ? definition : { ...definition, application: { id } };
}

async function toFormer(vault: Vault, current: ProxyRow, definition: ProxyDefinition): Promise<FormerVersion> {
  const {
    tenant_id,
    id: proxy_id,
    version,
    changed_members,
    created_at,
    created_by,
    modified_at,
    modified_by,
  } = current;
  const id = randomUUID();
  const by = modified_at === null ? { at: created_at, by_id: created_by } : { at: modified_at, by_id: modified_by };
  const whole = naming(definition, namedBy(current));
  const definition_ciphertext = await encryptVersion(vault, { tenantId: tenant_id, id }, whole);
  return { tenant_id, id, proxy_id, version, changed_members, ...by, definition_ciphertext };
}

/** Named as in responses. */
function changedMembers(before: ProxyDefinition, after: ProxyDefinition): string[] {
  return listProxyMembers().flatMap(([name, { kept, column }]) => {
    if (kept !== 'reference') return isDeepStrictEqual(before[name], after[name]) ? [] : [name];
    const idOf = (definition: ProxyDefinition) => (definition[name] as { id: string } | undefined)?.id;
    return idOf(before) === idOf(after) ? [] : [column];
  });
}
