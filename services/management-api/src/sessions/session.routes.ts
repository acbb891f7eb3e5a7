import { randomUUID } from 'node:crypto';
import { recordChange } from '@sluice/audit';
import { absent, tagOf } from '@sluice/cache-coherence';
import { type Caller, generateApiKey, generateNonce, hashKey } from '@sluice/credentials';
import {
  Confirmed,
  canonicalAddress,
  created,
  networkOf,
  pageOf,
  pageQuery,
  parseDate,
  toPage,
} from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { actOf, type Context, operation } from '../context.ts';
import { idParams } from '../resource.schema.ts';
import { withoutNulls } from '../without-nulls.ts';
import { checkSessionGrants } from './session.grants.ts';
import {
  authorizeSession,
  countAuthorized,
  deleteSession,
  findSessionById,
  insertSession,
  listSessions,
  lockByNonce,
  makeRoom,
  mostAuthorized,
} from './session.queries.ts';
import { authorizeSessionBody, newSession, session as sessionSchema } from './session.schema.ts';

const longestMs = 24 * 3600_000;

function requireType(caller: Caller, type: Caller['type'], what: string): void {
  if (caller.type !== type) throw new ServiceError('forbidden', what);
}

function sessionNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Session ${id} does not exist`);
}

const createSession = operation({
  id: 'createSession',
  tag: 'Sessions',
  summary: 'Make a session, with the key of a public Application; it waits to be authorized',
  description:
    'Takes no body. The session waits for three minutes; until a private Application has authorized it by its `nonce`, its key is refused as any bad key. It needs no permission, but a key of a `public` Application. An Application has at most 10,000 sessions that wait: beyond, the oldest of the network that has most of them ends.',
  method: 'post',
  path: '/sessions',
  idempotent: false,
  cors: true,
  response: { 201: newSession },
  async handle({ caller, address }, { db, keyEnvironment, pepper }) {
    requireType(caller, 'public', 'Sessions are made with the key of a public Application');
    const key = generateApiKey(keyEnvironment, 'session');
    const nonce = generateNonce();
    const { id, expires_at } = await db.transaction().execute(async (tx) => {
      await makeRoom(tx, caller.tenantId, caller.id);
      return insertSession(tx, {
        tenant_id: caller.tenantId,
        id: randomUUID(),
        application_id: caller.id,
        key_hash: hashKey(pepper, key),
        nonce_hash: hashKey(pepper, nonce),
        made_from: address(),
        network: networkOf(address()),
      });
    });
    return created('/sessions', { id, session_key: key, nonce, expires_at });
  },
});

const authorize = operation({
  id: 'authorizeSession',
  tag: 'Sessions',
  summary: 'Authorize a session, with the key of a private Application',
  description:
    'Answers without a body. It needs no permission, but a key of a `private` Application. **Delegation never widens**: the session may do with a token what its own grants give and what the authorizing Application may do with that token at that moment, and the stricter of the two transforms counts; grants beyond that are accepted and give nothing. The session ends at `expires_at`, with either Application, and when the key that authorized it is deleted, regenerated or expires. A nonce that was used is 409; one that is unknown or has expired 404.',
  method: 'post',
  path: '/sessions/authorize',
  body: authorizeSessionBody,
  confirmed: true,
  response: { 200: null },
  errors: ['not_found', 'conflict', 'too_many_requests'],
  async handle({ body, caller, traceId, settle }, { db, changes, pepper }) {
    requireType(caller, 'private', 'Sessions are authorized with the key of a private Application');
    const { keyId, tenantId } = caller;
    if (keyId === undefined) throw new ServiceError('forbidden', 'Sessions are authorized with a key');
    refuseWhatIsNotThereYet(body);
    const grants = checkSessionGrants(body);
    const expiresAt = endOf(body.expires_at);
    const address = body.address === undefined ? undefined : readAddress(body.address);
    const change = await db.transaction().execute(async (tx) => {
      const found = await lockByNonce(tx, tenantId, hashKey(pepper, body.nonce));
      if (!found) throw new ServiceError('not_found', 'There is no session with this nonce that waits');
      if (address !== undefined && address !== found.made_from) {
        throw new ServiceError('forbidden', 'The session was not made from this address');
      }
      if (found.authorized_by !== null) throw new ServiceError('conflict', 'This nonce was used already');
      if ((await countAuthorized(tx, tenantId)) >= mostAuthorized) {
        const detail = `A Tenant has at most ${mostAuthorized} authorized sessions`;
        throw new ServiceError('too_many_requests', detail, { retryAfterSeconds: 60 });
      }
      await authorizeSession(tx, tenantId, found.id, {
        authorized_by: caller.id,
        authorizing_key_id: keyId,
        permissions: grants.permissions,
        rules: JSON.stringify(grants.rules),
        proxies: body.proxies && body.proxies.length > 0 ? [...new Set(body.proxies)] : null,
        address: address ?? null,
        expires_at: expiresAt?.toISOString() ?? found.expires_at,
      });
      await recordChange(tx, actOf(caller, traceId), {
        operation: 'authorize',
        entityType: 'session',
        entityId: found.id,
      });
      const change = await changes.record(tx, tenantId, [tagOf.session(found.id), absent]);
      await settle?.(tx, undefined, change);
      return change;
    });
    return new Confirmed(await changes.barrier(change));
  },
});

/** Members whose meaning comes later: whoever relies on them must not believe that they bind. */
function refuseWhatIsNotThereYet(body: object): void {
  for (const member of ['fields', 'reactors']) {
    const value: unknown = Reflect.get(body, member);
    if (value !== undefined && value !== null) throw validationFailed({ [member]: ['is not supported yet'] });
  }
}

function endOf(expiresAt: string | undefined): Date | undefined {
  if (expiresAt === undefined) return undefined;
  const aheadMs = (parseDate(expiresAt)?.getTime() ?? Number.NaN) - Date.now();
  if (aheadMs > 0 && aheadMs <= longestMs) return new Date(Date.now() + aheadMs);
  throw validationFailed({ expires_at: ['must be in the future, and at most 24 hours ahead'] });
}

function readAddress(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) throw validationFailed({ address: ['must be an IP address'] });
  return address;
}

const listAllSessions = operation({
  id: 'listSessions',
  tag: 'Sessions',
  summary: 'List the sessions that wait or are authorized, newest first',
  description: 'The answer has no keys and no nonces. Sessions that have ended are not in it.',
  method: 'get',
  path: '/sessions',
  permission: 'application:read',
  query: { type: 'object', properties: pageQuery },
  response: { 200: pageOf(sessionSchema) },
  async handle({ query, caller }, { db }) {
    const { data, total } = await listSessions(db, caller.tenantId, query);
    return toPage(data.map(toAnswer), total, query);
  },
});

const getSession = operation({
  id: 'getSession',
  tag: 'Sessions',
  summary: 'Get a session',
  method: 'get',
  path: '/sessions/:id',
  permission: 'application:read',
  params: idParams,
  response: { 200: sessionSchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    const found = await findSessionById(db, caller.tenantId, params.id);
    if (!found) throw sessionNotFound(params.id);
    return toAnswer(found);
  },
});

type Found = NonNullable<Awaited<ReturnType<typeof findSessionById>>>;

function toAnswer(found: Found) {
  return { state: found.authorized_by === null ? 'waiting' : 'authorized', ...withoutNulls(found) };
}

/** `/sessions/self` stands before `/sessions/:id`, which would take it for an id. */
const endOwnSession = operation({
  id: 'endOwnSession',
  tag: 'Sessions',
  summary: 'End the session whose key is presented',
  description: 'Takes the key of a session, and no other. It is refused everywhere once this answers.',
  method: 'delete',
  path: '/sessions/self',
  confirmed: true,
  response: { 204: null },
  async handle({ caller, traceId }, context) {
    requireType(caller, 'session', 'Only the key of a session ends itself');
    return endSession(context, { caller, traceId, id: caller.id });
  },
});

const removeSession = operation({
  id: 'deleteSession',
  tag: 'Sessions',
  summary: 'End a session; its key is refused from then on',
  method: 'delete',
  path: '/sessions/:id',
  permission: 'application:update',
  params: idParams,
  confirmed: true,
  response: { 204: null },
  errors: ['not_found'],
  handle: ({ params, caller, traceId }, context) => endSession(context, { caller, traceId, id: params.id }),
});

interface Ending {
  caller: Caller;
  traceId: string;
  id: string;
}

async function endSession({ db, changes }: Context, { caller, traceId, id }: Ending): Promise<Confirmed> {
  const change = await db.transaction().execute(async (tx) => {
    if (!(await deleteSession(tx, caller.tenantId, id))) throw sessionNotFound(id);
    await recordChange(tx, actOf(caller, traceId), {
      operation: 'delete',
      entityType: 'session',
      entityId: id,
      ...(caller.applicationId !== undefined && { detail: { application_id: caller.applicationId } }),
    });
    return changes.record(tx, caller.tenantId, [tagOf.session(id)]);
  });
  return new Confirmed(await changes.barrier(change));
}

export const sessionOperations = [createSession, authorize, listAllSessions, endOwnSession, getSession, removeSession];
