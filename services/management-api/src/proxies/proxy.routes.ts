import { randomUUID } from 'node:crypto';
import { recordChange } from '@sluice/audit';
import { generateProxyKey, hashKey } from '@sluice/credentials';
import { created, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { actOf, operation } from '../context.ts';
import { idFilter, idParams } from '../resource.schema.ts';
import { mergePatch } from './merge-patch.ts';
import { checkDefinition, isProxyDefinition } from './proxy.definition.ts';
import { deleteProxy, findProxy, insertProxy, listProxies, lockProxy, updateProxy } from './proxy.queries.ts';
import { proxyBody, proxyPatchBody, proxy as proxySchema } from './proxy.schema.ts';
import { encryptProxyKey, toColumns, toDefinition, toProxy } from './proxy.secrets.ts';

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', `Proxy ${id} does not exist`);
}

function auditOf(operation: string, id: string) {
  return { operation, entityType: 'proxy', entityId: id };
}

const createProxy = operation({
  id: 'createProxy',
  summary: 'Create a Proxy',
  method: 'post',
  path: '/proxies',
  permission: 'proxy:create',
  body: proxyBody,
  response: { 201: proxySchema },
  errors: ['transform_does_not_compile'],
  async handle({ body, caller, traceId }, context) {
    const { db, vault, pepper } = context;
    const { tenantId } = caller;
    await checkDefinition(body, tenantId, context);
    const id = randomUUID();
    const key = generateProxyKey();
    const row = {
      ...(await toColumns(vault, tenantId, id, body)),
      tenant_id: tenantId,
      id,
      key_hash: hashKey(pepper, key),
      key_ciphertext: await encryptProxyKey(vault, tenantId, id, key),
      created_by: caller.id,
    };
    const inserted = await db.transaction().execute(async (tx) => {
      await recordChange(tx, actOf(caller, traceId), auditOf('proxy.created', id));
      return insertProxy(tx, row);
    });
    await context.announce({ tenantId, tags: [`proxy:${id}`] });
    return created('/proxies', await toProxy(vault, inserted));
  },
});

const listAllProxies = operation({
  id: 'listProxies',
  summary: 'List Proxies, newest first',
  method: 'get',
  path: '/proxies',
  permission: 'proxy:read',
  query: {
    type: 'object',
    properties: {
      id: idFilter,
      name: {
        type: 'string',
        maxLength: 200,
        description: 'Part of the name, or a pattern with *; case does not count',
      },
      ...pageQuery,
    },
  },
  response: { 200: pageOf(proxySchema) },
  async handle({ query, caller }, { db, vault }) {
    const filter = { ids: query.id ?? [], name: query.name };
    const { data, total } = await listProxies(db, caller.tenantId, filter, query);
    return toPage(await Promise.all(data.map((row) => toProxy(vault, row))), total, query);
  },
});

const getProxy = operation({
  id: 'getProxy',
  summary: 'Get a Proxy',
  method: 'get',
  path: '/proxies/:id',
  permission: 'proxy:read',
  params: idParams,
  response: { 200: proxySchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db, vault }) {
    const row = await findProxy(db, caller.tenantId, params.id);
    if (!row) throw notFound(params.id);
    return toProxy(vault, row);
  },
});

const putProxy = operation({
  id: 'updateProxy',
  summary: 'Replace a Proxy; it keeps its key',
  method: 'put',
  path: '/proxies/:id',
  permission: 'proxy:update',
  params: idParams,
  body: proxyBody,
  response: { 200: proxySchema },
  errors: ['not_found', 'transform_does_not_compile'],
  async handle({ params: { id }, body, caller, traceId }, context) {
    const { db, vault } = context;
    const { tenantId } = caller;
    if (!(await findProxy(db, tenantId, id))) throw notFound(id);
    await checkDefinition(body, tenantId, context);
    const columns = { ...(await toColumns(vault, tenantId, id, body)), modified_by: caller.id };
    const updated = await db.transaction().execute(async (tx) => {
      const row = await updateProxy(tx, tenantId, id, columns);
      if (!row) throw notFound(id);
      await recordChange(tx, actOf(caller, traceId), auditOf('proxy.updated', id));
      return row;
    });
    await context.announce({ tenantId, tags: [`proxy:${id}`] });
    return toProxy(vault, updated);
  },
});

const patchProxy = operation({
  id: 'patchProxy',
  summary: 'Change parts of a Proxy with a JSON merge patch (RFC 7386)',
  method: 'patch',
  path: '/proxies/:id',
  permission: 'proxy:update',
  params: idParams,
  body: proxyPatchBody,
  consumes: 'application/merge-patch+json',
  response: { 204: null },
  errors: ['not_found', 'transform_does_not_compile'],
  async handle({ params: { id }, body, caller, traceId }, context) {
    const { db, vault } = context;
    const { tenantId } = caller;
    const current = await findProxy(db, tenantId, id);
    if (!current) throw notFound(id);
    // The slow checks on what the patch makes of the row as it is; then the patch again on the row, locked.
    const expected = mergePatch(await toDefinition(vault, current), body);
    isProxyDefinition(expected);
    await checkDefinition(expected, tenantId, context);
    await db.transaction().execute(async (tx) => {
      const locked = await lockProxy(tx, tenantId, id);
      if (!locked) throw notFound(id);
      const definition = mergePatch(await toDefinition(vault, locked), body);
      isProxyDefinition(definition);
      await updateProxy(tx, tenantId, id, {
        ...(await toColumns(vault, tenantId, id, definition)),
        modified_by: caller.id,
      });
      await recordChange(tx, actOf(caller, traceId), auditOf('proxy.updated', id));
    });
    await context.announce({ tenantId, tags: [`proxy:${id}`] });
  },
});

const removeProxy = operation({
  id: 'deleteProxy',
  summary: 'Delete a Proxy',
  method: 'delete',
  path: '/proxies/:id',
  permission: 'proxy:delete',
  params: idParams,
  response: { 204: null },
  errors: ['not_found'],
  async handle({ params: { id }, caller, traceId }, { db, announce }) {
    await db.transaction().execute(async (tx) => {
      if (!(await deleteProxy(tx, caller.tenantId, id))) throw notFound(id);
      await recordChange(tx, actOf(caller, traceId), auditOf('proxy.deleted', id));
    });
    await announce({ tenantId: caller.tenantId, tags: [`proxy:${id}`] });
  },
});

export const proxyOperations = [createProxy, listAllProxies, getProxy, putProxy, patchProxy, removeProxy];
