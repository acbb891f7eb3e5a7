import { randomUUID } from 'node:crypto';
import { tagOf } from '@sluice/cache-coherence';
import { generateApiKey, generateNonce, hashKey } from '@sluice/credentials';
import { networkOf } from '@sluice/hosts';
import { type Acting, Confirmed, created, pageOf, pageQuery, toPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { type Context, operation } from '../context.ts';
import { recordAct } from '../record-act.ts';
import { pageLimit } from '../reserve-page.ts';
import { idParams } from '../resource.schema.ts';
import { withoutNulls } from '../without-nulls.ts';
import { authorizeSession } from './authorize-session.ts';
import {
  deleteSession,
  findSessionById,
  insertSession,
  listSessions,
  makeRoom,
  type NewSession,
} from './session.queries.ts';
import { createdSession, session as sessionSchema } from './session.schema.ts';

function sessionNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Session ${id} does not exist`);
}

export const createSession = operation({
  id: 'createSession',
  tag: 'Sessions',
  summary: 'Create a session with the key of a public Application',
  description: `Takes no body. A private Application must authorize the session by its \`nonce\` within three minutes. Until the session is authorized, its key is refused like any key that is not valid.

An Application may have 10,000 waiting sessions (\`APPLICATION_MAX_WAITING_SESSIONS\`). If a new session would exceed this limit, one waiting session ends: the oldest session of the IP network that has the most waiting sessions. Requests to create sessions wait in a queue of the Tenant. If this queue is full, a request of the IP network that has the most requests in the queue is 429. At the host of the hosted fields, only frames of the hosted fields may call this operation. These frames send the header \`SVC-FIELDS-APPLICATION\`.`,
  method: 'post',
  path: '/sessions',
  takesKeyOf: 'public',
  idempotent: false,
  cors: true,
  response: { 201: createdSession },
  async handle({ caller, address, fromFields, whenLeft, look }, context) {
    const { keyEnvironment, pepper, sessionQueues } = context;
    const network = networkOf(address());
    const key = generateApiKey(keyEnvironment, 'session');
    const nonce = generateNonce();
    const row = {
      tenant_id: caller.tenantId,
      id: randomUUID(),
      application_id: caller.id,
      key_hash: hashKey(pepper, key),
      nonce_hash: hashKey(pepper, nonce),
      made_from: address(),
      network,
      made_by_fields: fromFields(),
    };
    const turn = { tenantId: caller.tenantId, lane: network, whenLeft };
    const { id, expires_at } = await sessionQueues.making.run(turn, () => insertWithRoom(context, row, look));
    return created('/sessions', { id, session_key: key, nonce, expires_at });
  },
});

async function insertWithRoom({ db, sessionLimits, sessionFigures }: Context, row: NewSession, look: Acting['look']) {
  const maker = { tenantId: row.tenant_id, applicationId: row.application_id };
  const { ended, inserted } = await db.transaction().execute(async (tx) => {
    const ended = await makeRoom(tx, maker, sessionLimits);
    const inserted = await insertSession(tx, row);
    await look(tx);
    return { ended, inserted };
  });
  sessionFigures.ended += ended;
  return inserted;
}

const listAllSessions = operation({
  id: 'listSessions',
  tag: 'Sessions',
  summary: 'List the waiting and the authorized sessions, newest first',
  description: `The response has no keys, no nonces and no sessions that have ended. ${pageLimit}`,
  method: 'get',
  path: '/sessions',
  permission: 'application:read',
  query: { type: 'object', properties: pageQuery },
  response: { 200: pageOf(sessionSchema) },
  errors: ['payload_too_large'],
  async handle({ query, caller, hold }, { db }) {
    const { data, total } = await listSessions(db, caller.tenantId, { ...query, hold });
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

function toAnswer({ fields, proxies, ...found }: Found) {
  const state = found.authorized_by === null ? 'waiting' : 'authorized';
  const named = proxies?.length === 0 ? null : proxies; // because it was authorized for reactors only
  return { state, ...withoutNulls({ ...found, proxies: named }), ...(fields && { fields }) };
}

/** `/sessions/self` precedes `/sessions/:id`, which would match it. */
const endOwnSession = operation({
  id: 'endOwnSession',
  tag: 'Sessions',
  summary: 'End the session whose key sends the request',
  description: 'After the response, every service refuses the key of the session.',
  method: 'delete',
  path: '/sessions/self',
  takesKeyOf: 'session',
  confirmed: true,
  response: { 204: null },
  async handle(input, context) {
    const ended = await endSession(context, input, input.caller.id);
    // Another request has ended the session since its key was checked
    if (!ended) throw new ServiceError('unauthenticated', 'The session ended during this request');
    return ended;
  },
});

const removeSession = operation({
  id: 'deleteSession',
  tag: 'Sessions',
  summary: 'End a session',
  method: 'delete',
  path: '/sessions/:id',
  permission: 'application:update',
  params: idParams,
  confirmed: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, context) {
    const { id } = input.params;
    const ended = await endSession(context, input, id);
    if (!ended) throw sessionNotFound(id);
    return ended;
  },
});

async function endSession({ db, changes }: Context, acting: Acting, id: string): Promise<Confirmed | undefined> {
  const { caller } = acting;
  const change = await db.transaction().execute(async (tx) => {
    if (!(await deleteSession(tx, caller.tenantId, id))) return undefined;
    await recordAct(tx, acting, {
      operation: 'delete',
      entityType: 'session',
      entityId: id,
      ...(caller.applicationId !== undefined && { detail: { application_id: caller.applicationId } }),
    });
    return changes.record(tx, caller.tenantId, [tagOf.session(id)]);
  });
  return change && new Confirmed(await changes.barrier(change));
}

export const sessionOperations = [
  createSession,
  authorizeSession,
  listAllSessions,
  endOwnSession,
  getSession,
  removeSession,
];
