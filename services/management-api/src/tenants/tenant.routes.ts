import { recordClosing } from '@sluice/audit';
import { tagOf } from '@sluice/cache-coherence';
import { Confirmed, changeRows } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { destroyTenantKeys, readTokenUsage } from '@sluice/vault';
import { operation } from '../context.ts';
import { readName } from '../read-name.ts';
import { recordAct } from '../record-act.ts';
import { withoutNulls } from '../without-nulls.ts';
import { listDataKeys } from './data-key.routes.ts';
import { closeTenant, findTenant, lockTenantRow, lockToClose, updateTenant } from './tenant.queries.ts';
import { tenant as tenantSchema, updateTenantBody, usageReport } from './tenant.schema.ts';
import { getTenantMetrics } from './tenant-metrics.routes.ts';

interface TenantRow {
  fingerprint_tokens: boolean;
  deduplicate_tokens: boolean;
}

/** Settings are strings in requests and booleans in the table. */
function toTenant<T extends TenantRow>({ fingerprint_tokens, deduplicate_tokens, ...row }: T) {
  const settings = {
    fingerprint_tokens: String(fingerprint_tokens),
    deduplicate_tokens: String(deduplicate_tokens),
  };
  return { ...withoutNulls(row), settings };
}

/** For a Tenant that was closed after its key was checked. */
function closed(): ServiceError {
  return new ServiceError('not_found', 'The Tenant does not exist');
}

const getTenant = operation({
  id: 'getTenant',
  tag: 'Tenants',
  summary: 'Get the Tenant of the API key',
  method: 'get',
  path: '/tenants/self',
  permission: 'tenant:read',
  versioned: true,
  response: { 200: tenantSchema },
  errors: ['not_found'],
  async handle({ caller }, { db }) {
    const found = await findTenant(db, caller.tenantId);
    if (!found) throw closed();
    const { included_monthly_active_tokens: _, ...tenant } = found;
    return toTenant(tenant);
  },
});

const putTenant = operation({
  id: 'updateTenant',
  tag: 'Tenants',
  summary: 'Change name and settings of the Tenant',
  description: 'A setting that you leave out does not change.',
  method: 'put',
  path: '/tenants/self',
  permission: 'tenant:update',
  body: updateTenantBody,
  confirmed: true,
  versioned: true,
  response: { 200: tenantSchema },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { body, caller } = input;
    const { fingerprint_tokens, deduplicate_tokens } = body.settings ?? {};
    const { updated, change } = await changeRows(db, { tenantId: caller.tenantId, rows: ['tenant'] }, async (tx) => {
      const current = await lockTenantRow(tx, caller.tenantId);
      if (!current) throw closed();
      input.requireVersion(current);
      const updated = await updateTenant(tx, caller.tenantId, {
        name: readName(body.name, current.name),
        ...(fingerprint_tokens && { fingerprint_tokens: fingerprint_tokens === 'true' }),
        ...(deduplicate_tokens && { deduplicate_tokens: deduplicate_tokens === 'true' }),
        modified_by: caller.id,
      });
      if (!updated) throw closed();
      await recordAct(tx, input, {
        operation: 'update',
        entityType: 'tenant',
        entityId: caller.tenantId,
      });
      return { updated, change: await changes.record(tx, caller.tenantId, [tagOf.tenant(caller.tenantId)]) };
    });
    return new Confirmed(await changes.barrier(change), toTenant(updated));
  },
});

const deleteTenant = operation({
  id: 'deleteTenant',
  tag: 'Tenants',
  summary: 'Delete the Tenant and all its data',
  description:
    'This cannot be undone. All keys of the Tenant are refused at once, and its data keys are destroyed, so none of its values can be decrypted any more. Its rows are deleted later. Only a backup that was made before the deletion still has the data keys, wrapped by the root key.',
  method: 'delete',
  path: '/tenants/self',
  permission: 'tenant:delete',
  confirmed: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle({ caller, traceId, look }, { db, changes, jobs, log }) {
    const { tenantId } = caller;
    const change = await db.transaction().execute(async (tx) => {
      await lockToClose(tx, tenantId);
      await destroyTenantKeys(tx, tenantId);
      await look(tx); // after all waits, and before the Tenant is closed, because then the caller is refused too
      if (!(await closeTenant(tx, tenantId, caller.id))) throw closed();
      return changes.record(tx, tenantId, [tagOf.tenant(tenantId)]);
    });
    const closing = recordClosing(db, tenantId, traceId).catch((error: unknown) => {
      log.warn({ err: error, tenant_id: tenantId }, 'the closing could not be recorded; the purge will do it');
    });
    const [confirmation] = await Promise.all([changes.barrier(change), closing]);
    void jobs // the response does not wait for Redis
      .enqueue('tenant-purge', { id: `tenant-${tenantId}`, payload: { tenant_id: tenantId } })
      .catch((error: unknown) => {
        log.warn({ err: error, tenant_id: tenantId }, 'the purge could not be queued; the sweep will do it');
      });
    return new Confirmed(confirmation);
  },
});

const getUsageReport = operation({
  id: 'getUsageReport',
  tag: 'Tenants',
  summary: 'Get the number of tokens of each type, and of active tokens this month',
  description: '`metrics_by_type` always has `token`, `card` and `bank`, and every other type in use.',
  method: 'get',
  path: '/tenants/self/reports/usage',
  permission: 'report:read',
  response: { 200: usageReport },
  errors: ['not_found'],
  async handle({ caller }, { db }) {
    const [tenant, usage] = await Promise.all([
      findTenant(db, caller.tenantId),
      readTokenUsage(db, caller.tenantId, new Date()),
    ]);
    if (!tenant) throw closed();
    return {
      token_report: {
        metrics_by_type: usage.metrics_by_type,
        included_monthly_active_tokens: tenant.included_monthly_active_tokens,
        monthly_active_tokens: usage.monthly_active_tokens,
      },
    };
  },
});

export const tenantOperations = [getTenant, putTenant, deleteTenant, getUsageReport, getTenantMetrics, listDataKeys];
