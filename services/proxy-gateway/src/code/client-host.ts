import { isDeepStrictEqual } from 'node:util';
import { type Caller, Judgement, readCallers } from '@sluice/credentials';
import { asTenant, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import {
  type Actor,
  createToken,
  type DecryptionBudget,
  deleteToken,
  detokenizeEach,
  findToken,
  type Json,
  partOf,
  type RunInPieces,
  type Through,
  tokenize,
  updateToken,
  type Vault,
} from '@sluice/vault';
import type { Acting, Owner } from '../acting/acting.ts';
import type { Context } from '../context.ts';
import type { RequestGuard } from '../guard/request-guard.ts';
import { copies } from '../limits/body-memory.ts';
import { openingsIn, spendExpressions } from '../limits/spend-expressions.ts';
import { ConsoleSecrets } from './console/secrets.ts';
import { detokenizeTogether } from './detokenize-together.ts';
import { dataOf, revealedBy, storedIn } from './sensitive-parts.ts';
import { stringifyInPieces } from './stringify.ts';

export type Hosting = Pick<Context, 'callers' | 'vault' | 'budgets' | 'workPieces' | 'caches' | 'refusals'>;

/**
 * The Application of the client, the Proxy or reactor through which values are disclosed to its code, and the guard of the
 * answer if they go into a request.
 */
interface Client {
  through: Omit<Through, 'decryption' | 'counted'>;
  applicationId: string;
  guard?: RequestGuard | undefined;
}

const nameOf = { proxy: 'Proxy', reactor: 'reactor' } as const;

type HostOperation = (vault: Vault, actor: Actor, payload: Json) => Promise<unknown>;

const operations: Record<string, HostOperation> = {
  'tokens.create': async (vault, actor, payload) => (await createToken(vault, actor, payload)).token,
  'tokens.retrieve': (vault, actor, payload) => findToken(vault, actor, idOf(payload)),
  'tokens.update': async (vault, actor, payload) =>
    (await updateToken(vault, actor, idOf(payload), memberOf(payload, 'patch'))).token,
  'tokens.delete': async (vault, actor, payload) => void (await deleteToken(vault, actor, idOf(payload))),
  tokenize,
};

/** Operations that check rights after they have read. A change checks them before its commit, and is then confirmed in any case. */
export const reading: ReadonlySet<string> = new Set(['tokens.retrieve', 'detokenize']);
const changing: ReadonlySet<string> = new Set(['tokens.update', 'tokens.delete']);

/** Operations that answer with the data of a token. */
const showsToken: ReadonlySet<string> = new Set(['tokens.retrieve', 'tokens.update']);

/** @throws {ServiceError} 413 if the data is more than can be looked for, after a change too. */
function guardShown({ values }: RequestGuard, reference: string, answer: unknown): void {
  values.add({ reference, filters: [] }, (dataOf(answer) ?? null) as Json);
}

function memberOf(payload: Json, member: string): Json | undefined {
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload[member] : undefined;
}

function idOf(payload: Json): string {
  const id = memberOf(payload, 'id');
  if (typeof id === 'string') return id;
  throw new ServiceError('bad_request', 'The id of a token must be a string');
}

/**
 * Each call of the client checks the code's owner and its Application before the code receives what was read, and
 * before a change commits, so that ended rights count at once. The key of the Application never reaches the sandbox.
 */
export function clientHost<O extends Owner>(
  acting: Acting<O>,
  { through, applicationId, guard }: Client,
  context: Hosting,
) {
  const { callers, vault, budgets, workPieces } = context;
  const { tenantId, traceId, selection } = acting;
  acting.secrets ??= new ConsoleSecrets();
  const { secrets } = acting;
  const name = nameOf[through.entityType];

  /** In a transaction it reads past the caches. */
  async function findApplication(tx?: Queryable): Promise<Caller> {
    const owner = await selection.findAgain(tx);
    const application =
      owner?.applicationId === applicationId && (await (tx ? readCallers(tx) : callers).byId(tenantId, applicationId));
    if (application) return application;
    const detail = `The Application of this ${name} can no longer be used: it was changed or deleted, or it has expired`;
    throw new ServiceError('unauthenticated', detail);
  }

  async function findActor(decryption: DecryptionBudget = partOf(acting, copies)): Promise<Actor> {
    const judgement = new Judgement(context.caches);
    const application = await findApplication();
    judgement.endsAt(application.expiresAt);
    const look = (tx?: Queryable) =>
      judgement.look(async () => {
        if (isDeepStrictEqual(await findApplication(tx), application)) return;
        const detail = `The permissions of the Application of this ${name} were changed during the call; try again`;
        throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
      });
    return { ...application, traceId, through: { ...through, decryption, counted: acting.counted }, look };
  }

  const detokenizeAsActor = detokenizeTogether(async (values) => {
    // Values of a failed batch are asked for again.
    const decryption = partOf(acting, copies);
    const inPieces: RunInPieces = (work) => workPieces.run(tenantId, work);
    try {
      const actor = await findActor(decryption);
      const results = await detokenizeEach(vault, actor, values, { reading: 'use', inPieces, putIn: guard?.values });
      return results.map((answer) => ({ answer, actor }));
    } catch (error) {
      decryption.giveBack();
      throw error;
    }
  });

  const runAsActor = async (operate: HostOperation, payload: Json) => {
    const actor = await findActor();
    return { answer: await operate(vault, actor, payload), actor };
  };

  const call = async (operation: string, payloadJson: string): Promise<string> => {
    const operate = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (!operate && operation !== 'detokenize') {
      const detail = `The code gets a client in its argument. This client has no operation ${operation.slice(0, 40)}`;
      throw new ServiceError('not_implemented', detail);
    }
    if (!operate) spendExpressions(acting, openingsIn(payloadJson, budgets.expressions), budgets.expressions);
    const payload: Json = JSON.parse(payloadJson);
    if (!secrets.isTooMuch) secrets.add(storedIn(operation, payload));
    const { answer, actor } = operate ? await runAsActor(operate, payload) : await detokenizeAsActor(payload);
    if (!secrets.isTooMuch) secrets.add(revealedBy(operation, payload, answer));
    // The request itself may replace or delete a token whose value it sends
    if (changing.has(operation)) acting.seen.forget(idOf(payload));
    if (guard && showsToken.has(operation)) guardShown(guard, idOf(payload), answer);
    const text = answer === undefined ? '' : await workPieces.run(tenantId, stringifyInPieces(answer));
    if (reading.has(operation)) await actor.look?.();
    return text;
  };
  // The code may handle the error itself, so it is counted here
  return (operation: string, payloadJson: string) =>
    asTenant(tenantId, () => call(operation, payloadJson)).catch((error: unknown) => {
      context.refusals.note(error);
      throw error;
    });
}
