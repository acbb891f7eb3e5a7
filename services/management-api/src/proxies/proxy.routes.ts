import { randomUUID } from 'node:crypto';
import type { Change, VerbOf } from '@sluice/audit';
import { absent, requireEveryLeaseKnows, tagOf } from '@sluice/cache-coherence';
import { generateProxyKey, hashKey } from '@sluice/credentials';
import { listProxyMembers } from '@sluice/database';
import {
  Confirmed,
  changedTo,
  changeRows,
  created,
  pageOf,
  pageQuery,
  refuse,
  toPage,
  transaction,
} from '@sluice/http-api';
import { mergePatch } from '@sluice/vault';
import { operation } from '../context.ts';
import { sortByName } from '../list-order.ts';
import { readName } from '../read-name.ts';
import { recordAct } from '../record-act.ts';
import { pageLimit } from '../reserve-page.ts';
import { idFilter, idParams, nameFilter } from '../resource.schema.ts';
import { changeProxy, proxyNotFound, rowOfProxy } from './change-proxy.ts';
import { shownTo } from './hidden-values.ts';
import { checkDefinition, checkTransforms, type ProxyDefinition, withApplication } from './proxy.definition.ts';
import { faultsOfSpelling, respelled } from './proxy.places.ts';
import { deleteProxy, findProxy, insertProxy, listProxies, lockProxy } from './proxy.queries.ts';
import { restrictionsOf } from './proxy.restrictions.ts';
import { proxyBody, proxyPatchBody, proxyPutBody, proxy as proxySchema } from './proxy.schema.ts';
import { encryptProxyKey, toColumns, toProxy, withoutSecretsThatAreGone } from './proxy.secrets.ts';
import { proxyVersionOperations } from './proxy-version.routes.ts';
import { testTransform } from './transform-trial.routes.ts';

function auditOf(operation: VerbOf<'proxy'>, id: string): Change {
  return { operation, entityType: 'proxy', entityId: id };
}

const createProxy = operation({
  id: 'createProxy',
  tag: 'Proxies',
  summary: 'Create a Proxy',
  description:
    'The response has the `key` with which callers invoke the Proxy. The transforms are compiled during this request, and a syntax error is 422. Code that exports no function is accepted, but every invocation that runs this code fails.',
  method: 'post',
  path: '/proxies',
  permission: 'proxy:create',
  body: proxyBody,
  confirmed: true,
  versioned: true,
  response: { 201: proxySchema },
  errors: ['conflict', 'transform_does_not_compile'],
  replay: withoutSecretsThatAreGone,
  async handle(input, context) {
    const { caller } = input;
    const body = { ...input.body, name: readName(input.body.name) };
    const { db, vault, pepper, changes } = context;
    const { tenantId } = caller;
    await checkDefinition(body, tenantId, context);
    await checkTransforms(body, tenantId, context);
    const id = randomUUID();
    const key = generateProxyKey();
    const row = {
      ...(await toColumns(vault, tenantId, id, body)),
      named_application_id: body.application?.id ?? null,
      tenant_id: tenantId,
      id,
      key_hash: hashKey(pepper, key),
      key_ciphertext: await encryptProxyKey(vault, tenantId, id, key),
      created_by: caller.id,
    };
    const { answer, change } = await transaction(db, input, async (tx) => {
      await requireEveryLeaseKnows(tx, restrictionsOf({}, body));
      const answer = created('/proxies', shownTo(caller, await toProxy(vault, await insertProxy(tx, row))));
      await recordAct(tx, input, auditOf('create', id));
      const change = await changes.record(tx, tenantId, [absent]);
      return { answer, change };
    });
    return new Confirmed(await changes.barrier(change), answer);
  },
});

const listAllProxies = operation({
  id: 'listProxies',
  tag: 'Proxies',
  summary: 'List Proxies',
  description: pageLimit,
  method: 'get',
  path: '/proxies',
  permission: 'proxy:read',
  query: {
    type: 'object',
    properties: {
      id: idFilter,
      name: nameFilter,
      path_name: {
        type: 'string',
        maxLength: 63,
        description: 'Lists only the Proxy whose `path_name` is exactly this name',
      },
      sort: sortByName,
      ...pageQuery,
    },
  },
  showsSecrets: true,
  response: { 200: pageOf(proxySchema) },
  errors: ['payload_too_large'],
  async handle({ query, caller, hold }, { db, vault }) {
    const filter = { ids: query.id ?? [], name: query.name, pathName: query.path_name };
    const { data, total } = await listProxies(db, caller.tenantId, filter, { ...query, hold });
    const proxies = await Promise.all(data.map(async (row) => shownTo(caller, await toProxy(vault, row))));
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
  showsSecrets: true,
  versioned: true,
  response: { 200: proxySchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db, vault }) {
    const row = await findProxy(db, caller.tenantId, params.id);
    if (!row) throw proxyNotFound(params.id);
    return shownTo(caller, await toProxy(vault, row));
  },
});

const keptMembers = listProxyMembers().flatMap(([name, { absent }]) => (absent === 'kept' ? [name] : []));

const putProxy = operation({
  id: 'updateProxy',
  tag: 'Proxies',
  summary: 'Replace a Proxy; it keeps its key',
  description: `A field that you leave out is removed. There are two exceptions. If you leave out \`require_auth\`, it becomes true. If you leave out one of the following fields, it does not change, and null removes it: ${keptMembers.map((name) => `\`${name}\``).join(', ')}.

You can read a Proxy, change it and send it back. The Proxy that you read has \`application_id\` instead of \`application\`. If the body has no \`application\`, its \`application_id\` is used.`,
  method: 'put',
  path: '/proxies/:id',
  permission: 'proxy:update',
  params: idParams,
  body: proxyPutBody,
  confirmed: true,
  versioned: true,
  response: { 200: proxySchema },
  errors: ['not_found', 'conflict', 'transform_does_not_compile'],
  replay: withoutSecretsThatAreGone,
  async handle(input, context) {
    const define = (current?: ProxyDefinition) => replaced(current, withApplication(input.body));
    const { updated, change } = await changeProxy(context, input, { define, namesApplication: true });
    return new Confirmed(await context.changes.barrier(change), await toProxy(context.vault, updated));
  },
});

/** The definition after a PUT. */
function replaced(current: ProxyDefinition | undefined, body: Record<string, unknown>) {
  const kept = keptMembers.filter((name) => body[name] === undefined && current?.[name] !== undefined);
  return mergePatch({}, { ...Object.fromEntries(kept.map((name) => [name, current?.[name]])), ...body });
}

/** Stands in for a missing Proxy, so that a fault in the patch is 400 before the unknown id is 404. */
const blank = { name: 'blank', destination_url: 'https://example.com' };

const patchProxy = operation({
  id: 'patchProxy',
  tag: 'Proxies',
  summary: 'Change parts of a Proxy with a JSON merge patch (RFC 7386)',
  description:
    'A field that you leave out does not change. Null removes an optional field. `configuration` and `request_headers` are merged field by field. Names of headers are equal if they differ only in case. The Content-Type must be `application/merge-patch+json`.',
  method: 'patch',
  path: '/proxies/:id',
  permission: 'proxy:update',
  params: idParams,
  body: proxyPatchBody,
  consumes: 'application/merge-patch+json',
  confirmed: true,
  versioned: true,
  response: { 204: null },
  errors: ['not_found', 'conflict', 'transform_does_not_compile'],
  async handle(input, context) {
    refuse(faultsOfSpelling(input.body));
    const define = (current: object = blank) => mergePatch(respelled(current, input.body), withApplication(input.body));
    const namesApplication = 'application' in input.body || 'application_id' in input.body;
    const { updated, change } = await changeProxy(context, input, { define, namesApplication });
    return new Confirmed(await context.changes.barrier(change), changedTo(updated));
  },
});

const removeProxy = operation({
  id: 'deleteProxy',
  tag: 'Proxies',
  summary: 'Delete a Proxy',
  description: 'As soon as this request is answered, an invocation that sends the `key` of the deleted Proxy is 404.',
  method: 'delete',
  path: '/proxies/:id',
  permission: 'proxy:delete',
  params: idParams,
  confirmed: true,
  versioned: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { caller } = input;
    const { id } = input.params;
    const { change } = await changeRows(db, rowOfProxy(caller.tenantId, id), async (tx) => {
      const row = await lockProxy(tx, caller.tenantId, id);
      if (!row) throw proxyNotFound(id);
      input.requireVersion(row);
      await deleteProxy(tx, caller.tenantId, id);
      await recordAct(tx, input, auditOf('delete', id));
      return { change: await changes.record(tx, caller.tenantId, [tagOf.proxy(id)]) };
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
  ...proxyVersionOperations,
  testTransform,
];
