import { actorTypeOf } from '@sluice/credentials';
import { JsonText, operationsOf } from '@sluice/http-api';
import { endedEarly } from '@sluice/problems';
import { createTokens, type Json, readTokenization, requireExactNumbers } from '@sluice/vault';
import type { Context } from '../context.ts';
import { nextCdnLoop } from '../http/cdn-loop.ts';
import { reactBody, reactorParams, reactorResult } from './react.schema.ts';
import { answerOf, runReactor, selectReactor } from './run-reactor.ts';

const operation = operationsOf<Context>();

export const react = operation({
  id: 'react',
  tag: 'Reactors',
  summary: 'Run the code of a reactor with values in its arguments',
  description:
    'Expressions in `args` are evaluated as in /detokenize, but always give plaintext, need `token:use` on each token, and keep JSON types. Members that the formula declares as `request_parameters` are required unless optional, and are cast to their type; others pass as they are. The code gets `req.args`, `req.configuration` and, where the reactor names an Application, `req.svc`; it may call `fetch`, at most 20 times. It returns `raw`, `body`, `headers` and `tokenize`, each optional: the first three are the answer, and what `tokenize` holds becomes tokens as in /tokenize, all or nothing, as the caller, which needs `token:create` for it. An error of the code is a problem with the status of the error of `svc-errors`, otherwise 500. A run takes at most 2 s of processor time and 30 s in all. One Tenant uses at most half of the threads; beyond them the answer is 503. A caller that leaves ends its run. A run is never repeated, so idempotency keys are ignored.',
  method: 'post',
  path: '/reactors/:id/react',
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
    await selectReactor({ reactorId: params.id, caller }, context);
    await rateLimits?.countCaller(caller);
    const leaving = new AbortController();
    whenLeft(() => leaving.abort(endedEarly()));
    const { signal } = leaving;
    const giveBack = reactorPlaces.take(caller.tenantId);
    try {
      const run = { reactorId: params.id, args, caller, look, signal, traceId, wallMs, cdnLoop };
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
