import { absent, tagOf } from '@sluice/cache-coherence';
import { generateApiKey, hashKey, lastFourOf } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { Confirmed, changeRows, created } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { type Context, operation } from '../../context.ts';
import { futureDate } from '../../future-date.ts';
import { readName } from '../../read-name.ts';
import { recordAct } from '../../record-act.ts';
import { idParams } from '../../resource.schema.ts';
import { withoutNulls } from '../../without-nulls.ts';
import { requireHeld } from '../application.grants.ts';
import { applicationNotFound } from '../application.not-found.ts';
import { findApplication } from '../application.queries.ts';
import { lockTarget, rowOf } from '../lock-target.ts';
import { deleteKey, insertKey, isKey, keepOldKeyColumn, listKeys, nextKeyVersion } from './application-key.queries.ts';
import {
  applicationKey,
  applicationKeyList,
  applicationKeyParams,
  applicationKeyWithKey,
  createApplicationKeyBody,
} from './application-key.schema.ts';

const mostKeys = 5;

/** A replayed response contains the key only while the key is accepted. */
export async function withoutKeyThatIsGone(body: unknown, { db, pepper }: Context): Promise<unknown> {
  const { key, ...resource } = body as { key: string };
  return (await isKey(db, hashKey(pepper, key))) ? body : resource;
}

function keyNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `This Application has no key ${id}`);
}

async function requireApplication(db: Queryable, tenantId: string, id: string): Promise<void> {
  if (!(await findApplication(db, tenantId, id))) throw applicationNotFound(id);
}

const listApplicationKeys = operation({
  id: 'listApplicationKeys',
  tag: 'Applications',
  summary: 'List the keys of an Application, newest first',
  description:
    'A plain array, without pagination. The keys themselves are never shown. `last_used_at` tells whether an old key is still in use. This time is rounded down to the hour. It takes about a minute until a use of the key appears in `last_used_at`.',
  method: 'get',
  path: '/applications/:id/keys',
  permission: 'application:read',
  params: idParams,
  response: { 200: applicationKeyList },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    await requireApplication(db, caller.tenantId, params.id);
    return (await listKeys(db, caller.tenantId, params.id)).map(withoutNulls);
  },
});

const createApplicationKey = operation({
  id: 'createApplicationKey',
  tag: 'Applications',
  summary: 'Add a key to an Application',
  description: `The response has the new key. It is shown only once. The body is optional. \`name\` cannot be changed later.

The other keys stay valid, so you can replace a key without an outage: add a key, give it to all callers, and delete the old key when its \`last_used_at\` no longer changes. If the Application already has five keys, the response is 422. Your key must have each management permission of the Application. Otherwise the response is 403.`,
  method: 'post',
  path: '/applications/:id/keys',
  permission: 'application:update',
  params: idParams,
  body: createApplicationKeyBody,
  bodyOptional: true,
  confirmed: true,
  response: { 201: applicationKeyWithKey },
  errors: ['not_found', 'limit_reached'],
  async handle(input, { db, changes, keyEnvironment, pepper }) {
    const { params, body, caller } = input;
    const name = body.name == null ? null : readName(body.name);
    const expiresAt = futureDate(body.expires_at);
    const { tenantId } = caller;
    const locked = { ...rowOf(caller, params.id), settle: input.settle };
    const { answer, change } = await changeRows(db, locked, async (tx) => {
      const application = await lockTarget(tx, input, params.id);
      requireHeld(caller, application);
      const present = await listKeys(tx, tenantId, params.id);
      if (present.length >= mostKeys) {
        throw new ServiceError('limit_reached', `An Application has at most ${mostKeys} keys; delete one first`);
      }
      const key = generateApiKey(keyEnvironment, application.type);
      const inserted = await insertKey(tx, {
        tenantId,
        applicationId: params.id,
        version: await nextKeyVersion(tx, tenantId, params.id),
        name,
        keyHash: hashKey(pepper, key),
        lastFour: lastFourOf(key),
        expiresAt: expiresAt?.toISOString() ?? null,
        createdBy: caller.id,
      });
      await keepOldKeyColumn(tx, tenantId, params.id);
      await recordAct(tx, input, {
        operation: 'update',
        entityType: 'application',
        entityId: params.id,
        message: 'Key added to the Application',
        detail: { key_id: inserted.id, key_version: inserted.version },
      });
      const collection = `/applications/${params.id}/keys`;
      const answer = created(collection, { ...withoutNulls(inserted), id: inserted.id, key });
      const change = await changes.record(tx, tenantId, [absent]);
      return { answer, change };
    });
    return new Confirmed(await changes.barrier(change), answer);
  },
  replay: withoutKeyThatIsGone,
});

const getApplicationKey = operation({
  id: 'getApplicationKey',
  tag: 'Applications',
  summary: 'Get the creation time and the last use of a key of an Application',
  method: 'get',
  path: '/applications/:id/keys/:keyId',
  permission: 'application:read',
  params: applicationKeyParams,
  response: { 200: applicationKey },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    await requireApplication(db, caller.tenantId, params.id);
    const found = (await listKeys(db, caller.tenantId, params.id)).find(({ id }) => id === params.keyId);
    if (!found) throw keyNotFound(params.keyId);
    return withoutNulls(found);
  },
});

const deleteApplicationKey = operation({
  id: 'deleteApplicationKey',
  tag: 'Applications',
  summary: 'Delete a key of an Application',
  description:
    'After the response, every service refuses the key. Every session that was authorized with the key has ended, too. You cannot delete the last key (422). Regenerate the last key, or delete the Application. Your key must have each management permission of the Application. Otherwise the response is 403.',
  method: 'delete',
  path: '/applications/:id/keys/:keyId',
  permission: 'application:update',
  params: applicationKeyParams,
  confirmed: true,
  response: { 204: null },
  errors: ['not_found', 'limit_reached'],
  async handle(input, { db, changes }) {
    const { params, caller } = input;
    const { tenantId } = caller;
    const { change } = await changeRows(db, rowOf(caller, params.id), async (tx) => {
      const application = await lockTarget(tx, input, params.id);
      const present = await listKeys(tx, tenantId, params.id);
      const doomed = present.find(({ id }) => id === params.keyId);
      if (!doomed) throw keyNotFound(params.keyId);
      requireHeld(caller, application);
      if (present.length === 1) {
        throw new ServiceError('limit_reached', 'An Application needs at least one key; regenerate this key instead');
      }
      await deleteKey(tx, tenantId, params.id, doomed.id);
      await keepOldKeyColumn(tx, tenantId, params.id);
      await recordAct(tx, input, {
        operation: 'update',
        entityType: 'application',
        entityId: params.id,
        message: 'Key removed from the Application',
        detail: { key_id: doomed.id, key_version: doomed.version },
      });
      return { change: await changes.record(tx, tenantId, [tagOf.application(params.id)]) };
    });
    return new Confirmed(await changes.barrier(change));
  },
});

export const applicationKeyOperations = [
  listApplicationKeys,
  createApplicationKey,
  getApplicationKey,
  deleteApplicationKey,
];
