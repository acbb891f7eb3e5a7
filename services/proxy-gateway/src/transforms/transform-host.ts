import { ServiceError } from '@sluice/problems';
import {
  type Actor,
  createToken,
  deleteToken,
  detokenize,
  findToken,
  type Json,
  tokenize,
  updateToken,
  type Vault,
} from '@sluice/vault';
import type { Context } from '../context.ts';

type HostOperation = (vault: Vault, actor: Actor, payload: Json) => Promise<unknown>;

/** What the client object of a transform can do: the operations of the vault, as the Proxy's Application. */
const operations: Record<string, HostOperation> = {
  'tokens.create': async (vault, actor, payload) => (await createToken(vault, actor, payload)).token,
  'tokens.retrieve': (vault, actor, payload) => findToken(vault, actor, idOf(payload)),
  'tokens.update': async (vault, actor, payload) =>
    (await updateToken(vault, actor, idOf(payload), memberOf(payload, 'patch'))).token,
  'tokens.delete': async (vault, actor, payload) => void (await deleteToken(vault, actor, idOf(payload))),
  tokenize,
  detokenize: (vault, actor, payload) => detokenize(vault, actor, payload, 'use'),
};

function memberOf(payload: Json, member: string): Json | undefined {
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload[member] : undefined;
}

function idOf(payload: Json): string {
  const id = memberOf(payload, 'id');
  if (typeof id === 'string') return id;
  throw new ServiceError('bad_request', 'The id of a token must be a string');
}

/**
 * Answers the calls of a transform's client. The Application is read again at each call, so that one that was deleted,
 * expired or restricted in the middle acts no more; its key is nowhere near the sandbox.
 */
export function createTransformHost(
  tenantId: string,
  applicationId: string,
  traceId: string,
  { callers, vault }: Context,
) {
  return async (operation: string, payloadJson: string): Promise<string> => {
    const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (!run) throw new ServiceError('not_implemented', `The client cannot do ${operation.slice(0, 40)}`);
    const application = await callers.byId(tenantId, applicationId);
    if (!application)
      throw new ServiceError('unauthenticated', 'The Application of this Proxy does not exist any more');
    const answer = await run(vault, { ...application, traceId }, JSON.parse(payloadJson));
    return answer === undefined ? '' : JSON.stringify(answer);
  };
}
