import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Change, Verb } from '@sluice/audit';
import { absent, type RecordedChange, tagOf } from '@sluice/cache-coherence';
import { generateProxyKey, hashKey } from '@sluice/credentials';
import { Confirmed, created, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { mergePatch } from '@sluice/vault';
import { operation } from '../context.ts';
import { recordAct } from '../record-act.ts';
import { pageLimit } from '../reserve-page.ts';
import { idFilter, idParams } from '../resource.schema.ts';
import { checkDefinition, checkTransforms, isProxyDefinition, withApplication } from './proxy.definition.ts';
import { deleteProxy, findProxy, insertProxy, listProxies, lockProxy, updateProxy } from './proxy.queries.ts';
import { proxyBody, proxyPatchBody, proxyPutBody, proxy as proxySchema } from './proxy.schema.ts';
import { encryptProxyKey, toColumns, toDefinition, toProxy, withoutSecretsThatAreGone } from './proxy.secrets.ts';
import { testTransform } from './transform-trial.routes.ts';

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', `Proxy ${id} does not exist`);
}

function auditOf(operation: Verb, id: string): Change {
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
  confirmed: true,
  response: { 201: proxySchema },
  errors: ['transform_does_not_compile'],
  replay: withoutSecretsThatAreGone,
  async handle(input, context) {
    const { body, caller, settle, checkCallerAgain } = input;
    const { db, vault, pepper, changes } = context;
    const { tenantId } = caller;
    await checkDefinition(body, tenantId, context);
    await checkTransforms(body, { tenantId, checkCallerAgain }, context);
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
    const { answer, change } = await db.transaction().execute(async (tx) => {
      const answer = created('/proxies', await toProxy(vault, await insertProxy(tx, row)));
      await recordAct(tx, input, auditOf('create', id));
      const change = await changes.record(tx, tenantId, [absent]);
      await settle?.(tx, answer, change);
      return { answer, change };
    });
    return new Confirmed(await changes.barrier(change), answer);
  },
});

const listAllProxies = operation({
  id: 'listProxies',
  tag: 'Proxies',
  summary: 'List Proxies, newest first',
  description: pageLimit,
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
  errors: ['payload_too_large'],
  async handle({ query, caller, hold, checkCallerAgain }, { db, vault }) {
    const filter = { ids: query.id ?? [], name: query.name };
    const { data, total } = await listProxies(db, caller.tenantId, filter, { ...query, hold });
    const proxies = await Promise.all(data.map((row) => toProxy(vault, row)));
    await checkCallerAgain(); // the key service may have taken long
    return toPage(proxies, total, query);
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
  async handle({ params, caller, checkCallerAgain }, { db, vault }) {
    const row = await findProxy(db, caller.tenantId, params.id);
    if (!row) throw notFound(params.id);
    const proxy = await toProxy(vault, row);
    await checkCallerAgain();
    return proxy;
  },
});

const putProxy = operation({
  id: 'updateProxy',
  tag: 'Proxies',
  summary: 'Replace a Proxy; it keeps its key',
  description:
    'What is left out is unset afterwards; `require_auth` is true again. `application_id`, which answers have, names the Application where `application` is not a member, so that a Proxy that was read can be changed and sent back.',
  method: 'put',
  path: '/proxies/:id',
  permission: 'proxy:update',
  params: idParams,
  body: proxyPutBody,
  confirmed: true,
  response: { 200: proxySchema },
  errors: ['not_found', 'transform_does_not_compile'],
  replay: withoutSecretsThatAreGone,
  async handle(input, context) {
    const { body, caller, checkCallerAgain } = input;
    const { id } = input.params;
    const { db, vault, changes } = context;
    const { tenantId } = caller;
    const definition = mergePatch({}, withApplication(body));
    isProxyDefinition(definition);
    await checkDefinition(definition, tenantId, context);
    if (!(await findProxy(db, tenantId, id))) throw notFound(id);
    await checkTransforms(definition, { tenantId, checkCallerAgain }, context);
    const columns = { ...(await toColumns(vault, tenantId, id, definition)), modified_by: caller.id };
    const { updated, change } = await db.transaction().execute(async (tx) => {
      const updated = await updateProxy(tx, tenantId, id, columns);
      if (!updated) throw notFound(id);
      await recordAct(tx, input, auditOf('update', id));
      return { updated, change: await changes.record(tx, tenantId, [tagOf.proxy(id)]) };
    });
    return new Confirmed(await changes.barrier(change), await toProxy(vault, updated));
  },
});

/** A patch is checked again when the row changes meanwhile, up to this many times in all. */
const mostAttempts = 10;

/** Stands in for a missing Proxy, so that a fault in the patch is 400 before the unknown id is 404. */
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
  confirmed: true,
  response: { 204: null },
  errors: ['not_found', 'transform_does_not_compile'],
  async handle(input, context) {
    const { body, caller, checkCallerAgain } = input;
    const { id } = input.params;
    const { db, vault, changes } = context;
    const { tenantId } = caller;
    let change: RecordedChange | undefined;
    for (let attempt = 0; !change; attempt++) {
      if (attempt === mostAttempts) throw contended(id);
      const current = await findProxy(db, tenantId, id);
      const definition = mergePatch(current ? await toDefinition(vault, current) : blank, withApplication(body));
      isProxyDefinition(definition);
      await checkDefinition(definition, tenantId, context);
      if (!current) throw notFound(id);
      await checkTransforms(definition, { tenantId, checkCallerAgain }, context);
      const columns = { ...(await toColumns(vault, tenantId, id, definition)), modified_by: caller.id };
      change = await db.transaction().execute(async (tx) => {
        // The slow checks ran before this transaction. If the row has changed since, they are repeated on the new row
        if (!isDeepStrictEqual(await lockProxy(tx, tenantId, id), current)) return undefined;
        await updateProxy(tx, tenantId, id, columns);
        await recordAct(tx, input, auditOf('update', id));
        return changes.record(tx, tenantId, [tagOf.proxy(id)]);
      });
    }
    return new Confirmed(await changes.barrier(change));
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
  confirmed: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { caller } = input;
    const { id } = input.params;
    const change = await db.transaction().execute(async (tx) => {
      if (!(await deleteProxy(tx, caller.tenantId, id))) throw notFound(id);
      await recordAct(tx, input, auditOf('delete', id));
      return changes.record(tx, caller.tenantId, [tagOf.proxy(id)]);
    });
    return new Confirmed(await changes.barrier(change));
  },
});

export const proxyOperations = [
  createProxy,
  listAllProxies,
  getProxy,
  putProxy,
  patchProxy,
  removeProxy,
  testTransform,
];
