import { actorTypeOf } from '@sluice/credentials';
import { JsonText, operationsOf } from '@sluice/http-api';
import { endedEarly } from '@sluice/problems';
import { createTokens, type Json, readTokenization, requireExactNumbers } from '@sluice/vault';
import type { Context } from '../context.ts';
import { nextCdnLoop } from '../http/cdn-loop.ts';
import { reactBody, reactorParams, reactorResult } from './react.schema.ts';
import { notesOfCall, reactPath } from './react-calls.ts';
import { answerOf, runReactor, selectReactor } from './run-reactor.ts';

const operation = operationsOf<Context>();

export const react = operation({
  id: 'react',
  tag: 'Reactors',
  summary: 'Run the code of a reactor',
  description: `**Arguments.** Each expression in \`args\` is replaced with the plaintext of its token, and the inserted value keeps its JSON type. The caller needs \`token:use\` on each token. Arguments that the formula declares in \`request_parameters\` are converted to their declared type. A declared argument is required, unless it is declared as optional. Other arguments do not change.

**Code.** It gets \`req.args\`, \`req.configuration\` and, if the reactor has an Application, \`req.svc\`. It may call \`fetch\` at most 20 times. It returns an object with any of \`raw\`, \`body\`, \`headers\` and \`tokenize\`. \`raw\`, \`body\` and \`headers\` are the response. The values in \`tokenize\` become tokens of the caller, as in /tokenize: all of them or none. The caller needs \`token:create\` for this.

**Errors.** If the code throws an error of \`svc-errors\`, the response has its status. Otherwise the status is 500.

**Limits.** A run may use 2 s of CPU time and 30 s in total. One Tenant may use half of the threads. If these are busy, the response is 503. If the caller closes the connection, the run ends. Idempotency keys are ignored.`,
  method: 'post',
  path: reactPath,
  permission: 'token:use',
  params: reactorParams,
  body: reactBody,
  bodyOptional: true,
  bodyLimitBytes: 5 * 1024 * 1024,
  opaque: ['args'],
  idempotent: false,
  showsSecrets: true,
  response: { 200: reactorResult },
  errors: ['not_found', 'conflict', 'too_many_requests', 'reactor_failed', 'unavailable', 'loop_detected'],
  async handle({ params, body, header, whenLeft, ...asking }, context) {
    const { caller, traceId, hold, look } = asking;
    const { vault, rateLimits, reactorPlaces, reactorWallMs: wallMs } = context;
    const cdnLoop = nextCdnLoop(header('cdn-loop'));
    const args = (body.args ?? {}) as Json;
    requireExactNumbers('args', args);
    const notes = notesOfCall();
    notes.acting = { owner: await selectReactor({ reactorId: params.id, caller }, context), caller };
    await rateLimits?.countCaller(caller);
    const leaving = new AbortController();
    whenLeft(() => leaving.abort(endedEarly()));
    const { signal } = leaving;
    const giveBack = reactorPlaces.take(caller.tenantId);
    try {
      const run = { reactorId: params.id, args, caller, look, signal, traceId, notes, wallMs, cdnLoop };
      const outcome = await runReactor(run, context);
      await hold(2 * outcome.resultJson.length);
      if (outcome.tokenize === undefined) return new JsonText(answerOf(outcome, undefined));
      const actor = { ...caller, actorType: actorTypeOf(caller), traceId, hold, look };
      const { draft, fill } = await readTokenization(vault, actor, outcome.tokenize);
      return new JsonText(answerOf(outcome, await createTokens(await draft(), { answerTo: fill })));
    } finally {
      giveBack();
    }
  },
});
