import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { recordChange } from '@sluice/audit';
import { generateProxyKey, hashKey } from '@sluice/credentials';
import { created, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { actOf, operation } from '../context.ts';
import { idFilter, idParams } from '../resource.schema.ts';
import { mergePatch } from './merge-patch.ts';
import { checkDefinition, checkTransforms, isProxyDefinition } from './proxy.definition.ts';
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
  tag: 'Proxies',
  summary: 'Create a Proxy',
  description:
    'The answer has the `key` with which the Proxy is invoked. Transforms are compiled now: a syntax error is 422, a missing export shows at the first invocation.',
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
    await checkTransforms(body, context);
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
  tag: 'Proxies',
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
  tag: 'Proxies',
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
  tag: 'Proxies',
  summary: 'Replace a Proxy; it keeps its key',
  description: 'What is left out is unset afterwards; `require_auth` is true again.',
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
    await checkDefinition(body, tenantId, context);
    if (!(await findProxy(db, tenantId, id))) throw notFound(id);
    await checkTransforms(body, context);
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

/** A patch that finds the row changed while it was checked is tried again this often in all. */
const mostAttempts = 10;

/** What a patch is checked on where there is no Proxy: what is wrong in it is 400 before the id is 404. */
const blank = { name: 'blank', destination_url: 'https://example.com' };

function contended(id: string): ServiceError {
  const detail = `Proxy ${id} is being changed by others; try again`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}

const patchProxy = operation({
  id: 'patchProxy',
  tag: 'Proxies',
  summary: 'Change parts of a Proxy with a JSON merge patch (RFC 7386)',
  description:
    'Members that are left out stay as they are, null removes an optional member, and `configuration` is merged member by member. The Content-Type must be `application/merge-patch+json`.',
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
    let isPatched = false;
    for (let attempt = 0; !isPatched; attempt++) {
      if (attempt === mostAttempts) throw contended(id);
      const current = await findProxy(db, tenantId, id);
      const definition = mergePatch(current ? await toDefinition(vault, current) : blank, body);
      isProxyDefinition(definition);
      await checkDefinition(definition, tenantId, context);
      if (!current) throw notFound(id);
      await checkTransforms(definition, context);
      const columns = { ...(await toColumns(vault, tenantId, id, definition)), modified_by: caller.id };
      isPatched = await db.transaction().execute(async (tx) => {
        // All that is slow is done. Where the row is no longer what was patched, it is done again on what it is now.
        if (!isDeepStrictEqual(await lockProxy(tx, tenantId, id), current)) return false;
        await updateProxy(tx, tenantId, id, columns);
        await recordChange(tx, actOf(caller, traceId), auditOf('proxy.updated', id));
        return true;
      });
    }
    await context.announce({ tenantId, tags: [`proxy:${id}`] });
  },
});

const removeProxy = operation({
  id: 'deleteProxy',
  tag: 'Proxies',
  summary: 'Delete a Proxy',
  description: 'Invocations with its key are 404 from then on.',
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
