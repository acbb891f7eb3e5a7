import { isDeepStrictEqual } from 'node:util';
import { type Caller, readCallers } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import {
  type Actor,
  createToken,
  deleteToken,
  detokenizeEach,
  findToken,
  type Json,
  type OpeningBudget,
  partOf,
  type RunInPieces,
  tokenize,
  updateToken,
  type Vault,
} from '@sluice/vault';
import { openingOf } from '../budgets/opening.ts';
import { openingsIn, spendExpressions } from '../budgets/spend-expressions.ts';
import type { Context } from '../context.ts';
import { lookUpProxy } from '../proxies/find-proxy.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { newConsoleSecrets } from './console/secrets.ts';
import { detokenizeTogether } from './detokenize-together.ts';
import { revealedBy, storedIn } from './sensitive-parts.ts';
import { stringifyInPieces } from './stringify.ts';

type HostOperation = (vault: Vault, actor: Actor, payload: Json) => Promise<unknown>;

const operations: Record<string, HostOperation> = {
  'tokens.create': async (vault, actor, payload) => (await createToken(vault, actor, payload)).token,
  'tokens.retrieve': async (vault, actor, payload) => {
    const token = await findToken(vault, actor, idOf(payload));
    await actor.checkAgain?.();
    return token;
  },
  'tokens.update': async (vault, actor, payload) =>
    (await updateToken(vault, actor, idOf(payload), memberOf(payload, 'patch'))).token,
  'tokens.delete': async (vault, actor, payload) => void (await deleteToken(vault, actor, idOf(payload))),
  tokenize,
};

function memberOf(payload: Json, member: string): Json | undefined {
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload[member] : undefined;
}

function idOf(payload: Json): string {
  const id = memberOf(payload, 'id');
  if (typeof id === 'string') return id;
  throw new ServiceError('bad_request', 'The id of a token must be a string');
}

/** Each call looks up Proxy and Application, and again after its waits, so that ended rights count at once. Its key never reaches the sandbox. */
export function createTransformHost(invocation: Invocation, applicationId: string, context: Context) {
  const { callers, vault, budgets, workPieces } = context;
  const { traceId, head } = invocation;
  invocation.secrets ??= newConsoleSecrets();
  const { secrets } = invocation;
  const { tenantId, id: proxyId, destination } = invocation.proxy;
  const through = { proxyId, destinationHost: destination.host, method: head.method };

  /** In a transaction by its connection alone, past the caches. */
  async function findApplication(tx?: Queryable): Promise<Caller> {
    const isOfProxy = tx !== undefined || (await lookUpProxy(head.proxyKey, context))?.applicationId === applicationId;
    const application = isOfProxy && (await (tx ? readCallers(tx) : callers).byId(tenantId, applicationId));
    if (application) return application;
    const detail = 'This Proxy has its Application no longer: one of them was changed or deleted, or has expired';
    throw new ServiceError('unauthenticated', detail);
  }

  async function findActor(opening: OpeningBudget = openingOf(invocation, context)): Promise<Actor> {
    const application = await findApplication();
    const checkAgain = async (tx?: Queryable) => {
      if (isDeepStrictEqual(await findApplication(tx), application)) return;
      const detail = 'The rights of the Application of this Proxy were changed during the call; try again';
      throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
    };
    return { ...application, traceId, through: { ...through, opening }, checkAgain };
  }

  const detokenizeAsActor = detokenizeTogether(async (values) => {
    // Values that fail together are asked for again.
    const opening = partOf(openingOf(invocation, context));
    const inPieces: RunInPieces = (work) => workPieces.run(tenantId, work);
    try {
      const actor = await findActor(opening);
      const results = await detokenizeEach(vault, actor, values, { reading: 'use', inPieces });
      await actor.checkAgain?.();
      return results;
    } catch (error) {
      opening.giveBack();
      throw error;
    }
  });

  const call = async (operation: string, payloadJson: string): Promise<string> => {
    const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (!run && operation !== 'detokenize') {
      throw new ServiceError('not_implemented', `The client does not support ${operation.slice(0, 40)}`);
    }
    if (!run) spendExpressions(invocation, openingsIn(payloadJson, budgets.expressions), budgets.expressions);
    const payload: Json = JSON.parse(payloadJson);
    if (!secrets.isTooMuch) secrets.add(storedIn(operation, payload));
    const answer = run ? await run(vault, await findActor(), payload) : await detokenizeAsActor(payload);
    if (!secrets.isTooMuch) secrets.add(revealedBy(operation, payload, answer));
    return answer === undefined ? '' : workPieces.run(tenantId, stringifyInPieces(answer));
  };
  // The transform may answer the error in its own way, so it is counted here
  return (operation: string, payloadJson: string) =>
    call(operation, payloadJson).catch((error: unknown) => {
      context.refusals.note(error);
      throw error;
    });
}
