import { absent, tagOf } from '@sluice/cache-coherence';
import { hashKey } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { parseDate } from '@sluice/database';
import { canonicalAddress } from '@sluice/hosts';
import { Confirmed, transaction } from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { type Context, operation } from '../context.ts';
import { recordAct } from '../record-act.ts';
import { checkSessionGrants } from './session.grants.ts';
import { countAuthorized, giveGrants, lockByNonce } from './session.queries.ts';
import { type AuthorizeSession, authorizeSessionBody } from './session.schema.ts';

const longestMs = 24 * 3600_000;

export const authorizeSession = operation({
  id: 'authorizeSession',
  tag: 'Sessions',
  summary: 'Authorize a session with the key of a private Application',
  description: `A session never gets more rights than the Application that authorizes it. An operation on a token must be allowed by the session and by this Application at the time of the request. The session and the Application each give a \`transform\` for the value: \`redact\`, \`mask\` or \`reveal\`. The stricter one applies, and \`redact\` is the strictest. If you grant more than the Application has, the request is accepted, but the excess has no effect.

The session ends at \`expires_at\`. It also ends in each of these cases:

- The Application that created the session is deleted or expires.
- The Application that authorized the session is deleted or expires.
- The key that authorized the session is deleted or regenerated, or expires.

For hosted fields, authorize the session only for individual tokens, and only for a few minutes. Put the ids of these tokens in \`conditions\`, and send \`fields: true\`.

A nonce that was used already is 409. A nonce that is unknown or has expired is 404.`,
  method: 'post',
  path: '/sessions/authorize',
  takesKeyOf: 'private',
  body: authorizeSessionBody,
  confirmed: true,
  response: { 200: null },
  errors: ['not_found', 'conflict', 'too_many_requests'],
  async handle(input, context) {
    const { body, caller, whenLeft } = input;
    const { db, changes, sessionQueues } = context;
    const { keyId, tenantId } = caller;
    if (keyId === undefined)
      throw new ServiceError('forbidden', 'A session must be authorized with the API key of an Application');
    const wanted = readAuthorization(body);
    // Queued, because authorizations of one nonce need the same locks, and so does the Tenant's limit. A key that is
    // deleted while this waits authorizes nothing, because the session refers to it.
    const turn = { tenantId, lane: caller.id, whenLeft };
    const { change } = await sessionQueues.authorizing.run(turn, () =>
      transaction(db, input, async (tx) => {
        const found = await findWaiting(tx, context, { tenantId, ...wanted });
        await giveGrants(tx, tenantId, found.id, {
          ...wanted.grants,
          authorized_by: caller.id,
          authorizing_key_id: keyId,
          address: wanted.address ?? null,
          expires_at: wanted.expiresAt?.toISOString() ?? found.expires_at,
        });
        const { id: entityId } = found;
        await recordAct(tx, input, { operation: 'authorize', entityType: 'session', entityId });
        const change = await changes.record(tx, tenantId, [tagOf.session(entityId), absent]);
        return { change };
      }),
    );
    return new Confirmed(await changes.barrier(change));
  },
});

function readAuthorization(body: AuthorizeSession) {
  const { permissions, rules } = checkSessionGrants(body);
  const reactors = body.reactors ? [...new Set(body.reactors)] : null;
  // Gateways of the previous version read only `proxies`
  const proxies = body.proxies || reactors ? [...new Set(body.proxies)] : null;
  return {
    nonce: body.nonce,
    grants: { permissions, rules: JSON.stringify(rules), proxies, reactors, fields: body.fields === true },
    expiresAt: endOf(body.expires_at),
    address: body.address === undefined ? undefined : readAddress(body.address),
  };
}

interface Wanted {
  tenantId: string;
  nonce: string;
  address: string | undefined;
  grants: { fields: boolean };
}

async function findWaiting(tx: Queryable, context: Context, { tenantId, nonce, address, grants }: Wanted) {
  const { pepper, sessionLimits, sessionFigures } = context;
  const found = await lockByNonce(tx, tenantId, hashKey(pepper, nonce));
  if (!found) throw new ServiceError('not_found', 'No session that waits for authorization has this nonce');
  if (grants.fields && !found.made_by_fields) {
    throw new ServiceError('forbidden', 'The session was not created by a frame of the hosted fields');
  }
  if (address !== undefined && address !== found.made_from) {
    throw new ServiceError('forbidden', 'The session was not created from this address');
  }
  if (found.authorized_by !== null) throw new ServiceError('conflict', 'This nonce has already been used');
  const most = sessionLimits.TENANT_MAX_SESSIONS;
  if ((await countAuthorized(tx, tenantId, most)) >= most) {
    sessionFigures.refused++;
    const detail = `This Tenant has reached its limit of ${most} authorized sessions; end one first`;
    throw new ServiceError('too_many_requests', detail, { retryAfterSeconds: 60, limit: 'sessions' });
  }
  return found;
}

function endOf(expiresAt: string | undefined): Date | undefined {
  if (expiresAt === undefined) return undefined;
  const end = parseDate(expiresAt);
  const aheadMs = (end?.getTime() ?? Number.NaN) - Date.now();
  if (aheadMs > 0 && aheadMs <= longestMs) return end;
  throw validationFailed({ expires_at: ['must be in the future, and at most 24 hours ahead'] });
}

function readAddress(text: string): string {
  const address = canonicalAddress(text);
  if (address === undefined) throw validationFailed({ address: ['must be an IP address'] });
  return address;
}
