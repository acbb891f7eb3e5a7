import { Confirmed, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { findApplication } from '../applications/application.queries.ts';
import { type Context, operation } from '../context.ts';
import { date, idParams, uuid } from '../resource.schema.ts';
import { changeProxy, namedBy, proxyNotFound } from './change-proxy.ts';
import { shownTo } from './hidden-values.ts';
import type { ProxyDefinition } from './proxy.definition.ts';
import { findProxy, type ProxyRow } from './proxy.queries.ts';
import { proxy as proxySchema } from './proxy.schema.ts';
import { decryptVersion, toDefinition, toProxy, toVersion, withoutSecretsThatAreGone } from './proxy.secrets.ts';
import { findFormerVersion, listFormerVersions, mostVersions } from './proxy-version.queries.ts';

const proxyVersion = {
  type: 'object',
  title: 'ProxyVersion',
  description: 'A version of a Proxy. Each change makes a new version.',
  required: ['version', 'at', 'changed'],
  examples: [
    {
      version: 3,
      at: '2026-03-04T16:20:00.000Z',
      by: '5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20',
      changed: ['request_transform', 'configuration'],
    },
  ],
  properties: {
    version: { type: 'integer', description: 'Number of the version, from 1. The highest is the current one' },
    at: { ...date, description: 'When this version was made' },
    by: { ...uuid, description: 'Id of the Application, session or user that made this version' },
    changed: {
      type: 'array',
      items: { type: 'string' },
      description: 'Fields that differ from the previous version. Empty for the first version',
    },
  },
} as const;

const versionParams = {
  type: 'object',
  required: ['id', 'version'],
  properties: { id: uuid, version: { type: 'integer', minimum: 1, maximum: 2_147_483_647 } },
} as const;

const listProxyVersions = operation({
  id: 'listProxyVersions',
  tag: 'Proxies',
  summary: 'List the versions of a Proxy, newest first',
  description: `The first entry is the current version. Every change of a field makes a version. At most ${mostVersions} versions are stored. Together, the versions before the current one have at most 8 MiB. When a limit is exceeded, the oldest versions are deleted. If the Proxy is deleted, its versions are deleted too.`,
  method: 'get',
  path: '/proxies/:id/versions',
  permission: 'proxy:read',
  params: idParams,
  query: { type: 'object', properties: pageQuery },
  response: { 200: pageOf(proxyVersion) },
  errors: ['not_found'],
  async handle({ params: { id }, query, caller: { tenantId } }, { db }) {
    const current = await findProxy(db, tenantId, id);
    if (!current) throw proxyNotFound(id);
    const former = await listFormerVersions(db, tenantId, id);
    const { version, changed_members, created_at, created_by, modified_at, modified_by } = current;
    const newest =
      modified_at === null ? { at: created_at, by_id: created_by } : { at: modified_at, by_id: modified_by };
    const all = [{ version, changed_members, ...newest }, ...former].map(({ by_id: by, changed_members, ...rest }) => ({
      ...rest,
      ...(by !== null && { by }),
      changed: changed_members,
    }));
    const from = (query.page - 1) * query.size;
    return toPage(all.slice(from, from + query.size), all.length, query);
  },
});

const getProxyVersion = operation({
  id: 'getProxyVersion',
  tag: 'Proxies',
  summary: 'Get a version of a Proxy',
  description:
    'The Proxy as it was in this version. `modified_at` and `modified_by` say when and by whom this version was made. `key` is the current key. `application_id` is absent if that Application was deleted.',
  method: 'get',
  path: '/proxies/:id/versions/:version',
  permission: 'proxy:read',
  params: versionParams,
  showsSecrets: true,
  response: { 200: proxySchema },
  errors: ['not_found'],
  async handle({ params, caller }, context) {
    const { row, definition } = await findVersion(context, caller.tenantId, params);
    return shownTo(caller, await toVersion(context.vault, row, definition));
  },
});

const restoreProxyVersion = operation({
  id: 'restoreProxyVersion',
  tag: 'Proxies',
  summary: 'Restore a version of a Proxy',
  description:
    'Takes no body. The Proxy keeps its key. The version is checked like the body of a PUT: for example, a destination that is no longer allowed is 400. All fields are replaced, and a field that the version does not have is removed. If the Application of the version no longer exists, the restored Proxy has no Application. If the `request_headers` of such a Proxy contain tokens, its invocations are 403 until you set `application` of the Proxy to another Application or to null. If you restore the current version, no field changes.',
  method: 'post',
  path: '/proxies/:id/versions/:version/restore',
  permission: 'proxy:update',
  params: versionParams,
  confirmed: true,
  versioned: true,
  response: { 200: proxySchema },
  errors: ['not_found', 'conflict', 'transform_does_not_compile'],
  replay: withoutSecretsThatAreGone,
  async handle(input, context) {
    const { params, caller, settle } = input;
    const { definition, formerApplicationId } = await findVersion(context, caller.tenantId, params);
    const detail = { restored_version: params.version };
    const { updated, change } = await changeProxy(context, input, {
      define: () => definition,
      namesApplication: true,
      formerApplicationId,
      keepsName: true,
      detail,
      settle,
    });
    return new Confirmed(await context.changes.barrier(change), await toProxy(context.vault, updated));
  },
});

export const proxyVersionOperations = [listProxyVersions, getProxyVersion, restoreProxyVersion];

/** @throws {ServiceError} `not_found`. */
async function findVersion({ db, vault }: Context, tenantId: string, { id, version }: { id: string; version: number }) {
  const row = await findProxy(db, tenantId, id);
  if (!row) throw proxyNotFound(id);
  if (version === row.version) {
    return { row, definition: await toDefinition(vault, row), formerApplicationId: namedBy(row) ?? undefined };
  }
  const former = await findFormerVersion(db, tenantId, id, version);
  if (!former) throw new ServiceError('not_found', `Proxy ${id} has no version ${version}`);
  const definition = await decryptVersion(vault, { tenantId, ...former });
  return {
    row: { ...row, ...modifiedBy(row, former) },
    definition: await withPresentApplication(db, tenantId, definition),
    formerApplicationId: definition.application?.id,
  };
}

function modifiedBy({ created_at }: ProxyRow, { at, by_id }: { at: string; by_id: string | null }) {
  return at === created_at ? { modified_at: null, modified_by: null } : { modified_at: at, modified_by: by_id };
}

/** Leaves out an Application that has been deleted, as responses for the Proxy itself do. */
async function withPresentApplication(
  db: Context['db'],
  tenantId: string,
  { application, ...rest }: ProxyDefinition,
): Promise<ProxyDefinition> {
  const isThere = application && (await findApplication(db, tenantId, application.id)) !== undefined;
  return isThere ? { ...rest, application } : rest;
}
