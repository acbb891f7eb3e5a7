import { actorTypeOf } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { type Actor, castDeclared, detokenizeEach, type Json, type JsonObject, partOf } from '@sluice/vault';
import { ConsoleSecrets } from '../code/console/secrets.ts';
import { revealedBy } from '../code/sensitive-parts.ts';
import { stringifyInPieces } from '../code/stringify.ts';
import type { Context } from '../context.ts';
import { bytesToRun, copies } from '../limits/body-memory.ts';
import { noteTokenIds } from '../observation/note-for-feed.ts';
import type { ReactorDefinition } from './definition.ts';
import type { Running } from './running.ts';

export type ReadingArgs = Pick<Context, 'vault' | 'workPieces' | 'budgets'>;

/**
 * `req.args` as JSON text. Expressions are evaluated with the caller's rights and keep their JSON types; members that the formula
 * declares are cast. Disclosures are logged before this resolves. @throws {ServiceError} 400 and 403, which say where.
 */
export async function readArgs(running: Running, context: ReadingArgs): Promise<string> {
  const { run, acting } = running;
  const { owner: reactor, seen, judgement, tenantId } = acting;
  const { vault, workPieces } = context;
  const inPieces = <T>(work: Generator<void, T, void>) => workPieces.run(tenantId, work);
  const tokenIds: string[] = [];
  const onFound = (rows: Parameters<typeof seen.note>[1]) => {
    tokenIds.push(...rows.map(({ id }) => id));
    judgement.endsAt(seen.note(vault, rows));
  };
  const actor = actorOf(running);
  const [revealed = null] = await detokenizeEach(vault, actor, [run.args], { reading: 'reveal', inPieces, onFound });
  noteTokenIds(run.notes, tokenIds);
  if (revealed !== run.args) {
    acting.secrets ??= new ConsoleSecrets();
    acting.secrets.add(revealedBy('detokenize', run.args, revealed));
  }
  const args = castArgs(revealed, reactor.parameters);
  const json = await workPieces.run(tenantId, stringifyInPieces(args));
  await acting.memory.part('request').growTo(bytesToRun(json.length, context));
  return json;
}

function actorOf({ run, acting }: Running): Actor {
  const { owner, traceId } = acting;
  const { caller, look } = run;
  const decryption = partOf(acting, copies); // the text in addition to the data
  const through = { entityType: 'reactor', entityId: owner.id, decryption, counted: acting.counted } as const;
  return { ...caller, actorType: actorTypeOf(caller), traceId, look, through };
}

function castArgs(args: Json, parameters: ReactorDefinition['parameters']): Json {
  if (parameters.length === 0) return args;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new ServiceError('bad_request', 'args must be an object, because the formula declares request_parameters', {
      errors: { args: ['must be an object'] },
    });
  }
  const { values, faults } = castDeclared(parameters, args as JsonObject);
  const errors = Object.fromEntries(Object.entries(faults).map(([name, messages]) => [`args.${name}`, messages]));
  const [first] = Object.entries(errors);
  if (!first) return values;
  throw new ServiceError('bad_request', `${first[0]} ${first[1][0]}`, { errors });
}
