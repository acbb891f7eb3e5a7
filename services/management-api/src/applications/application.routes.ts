import { randomUUID } from 'node:crypto';
import { applicationTypes } from '@sluice/access';
import { absent, requireEveryLeaseKnows, tagOf } from '@sluice/cache-coherence';
import { deleteApplication, generateApiKey, hashKey, lastFourOf } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { Confirmed, changeRows, created, pageOf, pageQuery, toPage, transaction } from '@sluice/http-api';
import { type Context, operation } from '../context.ts';
import { futureDate } from '../future-date.ts';
import { sortByName } from '../list-order.ts';
import { faultInName } from '../names.ts';
import { readName } from '../read-name.ts';
import { recordAct } from '../record-act.ts';
import { pageLimit } from '../reserve-page.ts';
import { idFilter, idParams, nameFilter } from '../resource.schema.ts';
import { withoutNulls } from '../without-nulls.ts';
import { checkGrants, requireGrants, requireHeld } from './application.grants.ts';
import { applicationNotFound } from './application.not-found.ts';
import { checkOrigins } from './application.origins.ts';
import { checkProxies, proxiesRestriction } from './application.proxies.ts';
import { findApplication, insertApplication, listApplications, updateApplication } from './application.queries.ts';
import {
  application as applicationSchema,
  applicationWithKey,
  createApplicationBody,
  updateApplicationBody,
} from './application.schema.ts';
import { withoutKeyThatIsGone } from './keys/application-key.routes.ts';
import { regenerateApplicationKey } from './keys/regenerate-key.routes.ts';
import { lockTarget, rowOf } from './lock-target.ts';

const createApplication = operation({
  id: 'createApplication',
  tag: 'Applications',
  summary: 'Create an Application and its API key',
  description: `At least one of \`permissions\` and \`rules\` must be non-empty. Each permission must be one that Applications of this \`type\` can have. Your key must have each management permission that you grant. If your key lacks one of them, the response is 403.

The response has the API key. Store it, because reading the Application does not return it. If you repeat the request with the same idempotency key, the response has the API key again. It is left out if this API key is no longer accepted.`,
  method: 'post',
  path: '/applications',
  permission: 'application:create',
  body: createApplicationBody,
  confirmed: true,
  versioned: true,
  response: { 201: applicationWithKey },
  async handle(input, context) {
    const { body, caller } = input;
    requireGrants(body);
    const name = readName(body.name);
    const { permissions, rules } = checkGrants(body, body.type);
    const origins = checkOrigins(body.allowed_origins, body.type);
    const expiresAt = futureDate(body.expires_at);
    requireHeld(caller, { permissions, rules });
    const key = generateApiKey(context.keyEnvironment, body.type);
    const owner = { tenantId: caller.tenantId, type: body.type, stored: null };
    const proxies = await checkProxies(context.db, body.proxies, owner);
    const { application, answer, change } = await transaction(context.db, input, async (tx) => {
      await requireEveryLeaseKnows(tx, [proxiesRestriction(null, proxies)]);
      const application = await insertApplication(tx, {
        tenant_id: caller.tenantId,
        id: randomUUID(),
        name,
        type: body.type,
        permissions,
        rules: JSON.stringify(rules),
        key_hash: hashKey(context.pepper, key),
        last_four: lastFourOf(key),
        allowed_origins: origins ?? null,
        proxies: proxies ?? null,
        expires_at: expiresAt?.toISOString() ?? null,
        created_by: caller.id,
      });
      await recordAct(tx, input, {
        operation: 'create',
        entityType: 'application',
        entityId: application.id,
      });
      const answer = created('/applications', { ...withoutNulls(application), id: application.id, key });
      const change = await context.changes.record(tx, caller.tenantId, [absent]);
      return { application, answer, change };
    });
    if (expiresAt && isNear(expiresAt)) void setAlarm(context, application, expiresAt); // the response does not wait for Redis
    return new Confirmed(await context.changes.barrier(change), answer);
  },
  replay: withoutKeyThatIsGone,
});

const alarmedMs = 600_000;

/** A later row is left to the sweep, because Redis would keep its job until then, even if the row is deleted. */
const isNear = (at: Date) => at.getTime() - Date.now() < alarmedMs;

/** Only makes the deletion faster: the row decides when the Application expires, and the sweep also deletes it. */
async function setAlarm({ jobs, log }: Context, { tenant_id, id }: { tenant_id: string; id: string }, at: Date) {
  try {
    await jobs.enqueue('application-expiry', {
      id: `application-${id}`,
      payload: { tenant_id, application_id: id },
      at,
    });
  } catch (error) {
    log.warn({ err: error, application_id: id }, 'the expiry job could not be queued; the sweep will delete the row');
  }
}

const listAllApplications = operation({
  id: 'listApplications',
  tag: 'Applications',
  summary: 'List Applications',
  description: `The response has no API keys. ${pageLimit}`,
  method: 'get',
  path: '/applications',
  permission: 'application:read',
  query: {
    type: 'object',
    properties: {
      id: idFilter,
      name: nameFilter,
      type: { type: 'string', enum: applicationTypes, description: 'Lists only Applications of this type' },
      sort: sortByName,
      ...pageQuery,
    },
  },
  response: { 200: pageOf(applicationSchema) },
  errors: ['payload_too_large'],
  async handle({ query, caller, hold }, { db }) {
    const { data, total } = await listApplications(
      db,
      caller.tenantId,
      { ids: query.id ?? [], type: query.type, name: query.name },
      { ...query, hold },
    );
    return toPage(data.map(withoutNulls), total, query);
  },
});

const getApplicationByKey = operation({
  id: 'getApplicationByKey',
  tag: 'Applications',
  summary: 'Get the Application of the API key',
  description:
    'Takes no parameters: the Application is the one of the key in the `SVC-API-KEY` header. The response has no API key.',
  method: 'get',
  path: '/applications/key',
  permission: 'application:read',
  versioned: true,
  response: { 200: applicationSchema },
  errors: ['not_found'],
  async handle({ caller }, { db }) {
    const found = await findApplication(db, caller.tenantId, caller.id);
    if (!found) throw applicationNotFound(caller.id);
    return withoutNulls(found);
  },
});

const getApplication = operation({
  id: 'getApplication',
  tag: 'Applications',
  summary: 'Get an Application',
  description: 'The response has no API key.',
  method: 'get',
  path: '/applications/:id',
  permission: 'application:read',
  params: idParams,
  versioned: true,
  response: { 200: applicationSchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    const found = await findApplication(db, caller.tenantId, params.id);
    if (!found) throw applicationNotFound(params.id);
    return withoutNulls(found);
  },
});

const putApplication = operation({
  id: 'updateApplication',
  tag: 'Applications',
  summary: 'Replace name, permissions, rules, allowed origins and Proxies of an Application',
  description: `At least one of \`permissions\` and \`rules\` must be non-empty. A field that you leave out becomes empty, except \`allowed_origins\` and \`proxies\`: if you leave out one of them, it does not change. This operation never changes \`type\`, \`expires_at\` or the keys.

Your key must have each management permission that the Application has, and each that you grant. Otherwise the response is 403. After the response, every service uses the new permissions, rules, origins and Proxies.`,
  method: 'put',
  path: '/applications/:id',
  permission: 'application:update',
  params: idParams,
  body: updateApplicationBody,
  confirmed: true,
  versioned: true,
  response: { 200: applicationSchema },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { params, body, caller } = input;
    requireGrants(body);
    await requireName(db, caller.tenantId, { id: params.id, name: body.name });
    const { updated, change } = await changeRows(db, rowOf(caller, params.id), async (tx) => {
      const current = await lockTarget(tx, input, params.id);
      const { permissions, rules } = checkGrants(body, current.type);
      const origins = checkOrigins(body.allowed_origins, current.type);
      const owner = { tenantId: caller.tenantId, type: current.type, stored: current.proxies };
      const proxies = await checkProxies(tx, body.proxies, owner);
      requireHeld(caller, current, { permissions, rules });
      input.requireVersion(current);
      await requireEveryLeaseKnows(tx, [proxiesRestriction(current.proxies, proxies)]);
      const updated = await updateApplication(tx, caller.tenantId, params.id, {
        name: readName(body.name, current.name),
        permissions,
        rules: JSON.stringify(rules),
        ...(origins !== undefined && { allowed_origins: origins }),
        ...(proxies !== undefined && { proxies }),
        modified_by: caller.id,
      });
      if (!updated) throw applicationNotFound(params.id);
      await recordAct(tx, input, {
        operation: 'update',
        entityType: 'application',
        entityId: params.id,
      });
      return { updated, change: await changes.record(tx, caller.tenantId, [tagOf.application(params.id)]) };
    });
    return new Confirmed(await changes.barrier(change), withoutNulls(updated));
  },
});

/** Before the lock, because a fault in the body is 400 even for an unknown id. @throws {ServiceError} `validation_failed` */
async function requireName(db: Queryable, tenantId: string, { id, name }: { id: string; name: string }): Promise<void> {
  if (faultInName(name) === undefined) return;
  const stored = await findApplication(db, tenantId, id);
  readName(name, stored?.name);
}

const removeApplication = operation({
  id: 'deleteApplication',
  tag: 'Applications',
  summary: 'Delete an Application',
  description:
    'The keys of the Application are refused, and its sessions end. Proxies and reactors that use the Application are kept, but their code no longer has `req.svc`. Code uses tokens with `req.svc`.',
  method: 'delete',
  path: '/applications/:id',
  permission: 'application:delete',
  params: idParams,
  confirmed: true,
  versioned: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { params, caller } = input;
    const { change } = await changeRows(db, rowOf(caller, params.id), async (tx) => {
      input.requireVersion(await lockTarget(tx, input, params.id));
      const proxies = await deleteApplication(tx, caller.tenantId, params.id);
      if (!proxies) throw applicationNotFound(params.id);
      await recordAct(tx, input, {
        operation: 'delete',
        entityType: 'application',
        entityId: params.id,
      });
      const tags = [tagOf.application(params.id), ...proxies.map(tagOf.proxy)];
      return { change: await changes.record(tx, caller.tenantId, tags) };
    });
    return new Confirmed(await changes.barrier(change));
  },
});

/** `/applications/key` precedes `/applications/:id`, which would match it. */
export const applicationOperations = [
  createApplication,
  listAllApplications,
  getApplicationByKey,
  getApplication,
  putApplication,
  regenerateApplicationKey,
  removeApplication,
];
