import { tryReactor } from '@sluice/sandbox';
import { type Json, requireExactNumbers } from '@sluice/vault';
import { operation } from '../context.ts';
import { checkCode, checkConfigurationSize } from '../proxies/proxy.definition.ts';
import { checkArgs, toTrialAnswer, trialBodyLimitBytes } from '../proxies/transform-trial.routes.ts';
import { reactorTrial, reactorTrialBody } from './reactor-trial.schema.ts';

export const testReactor = operation({
  id: 'testReactor',
  tag: 'Reactors',
  summary: 'Try the code of a reactor',
  description:
    'Runs the code on the given `args` with the engine of reactors, and answers what it returned or what went wrong in it. Nothing is stored, nothing becomes a token, there is no `req.svc`, and `fetch` rejects. At most a few run at a time for each Tenant: where too many wait, the answer is 503 with `Retry-After`.',
  method: 'post',
  path: '/reactors/test',
  permission: 'reactor:update',
  body: reactorTrialBody,
  bodyLimitBytes: trialBodyLimitBytes,
  opaque: ['args'],
  idempotent: false,
  showsSecrets: true,
  response: { 200: reactorTrial },
  errors: ['code_does_not_compile'],
  async handle({ body: { code, args, configuration = {} }, caller: { tenantId } }, context) {
    checkConfigurationSize(configuration);
    checkArgs(args);
    requireExactNumbers('args', args as Json);
    await checkCode('code', code, { tenantId, context, refusal: 'code_does_not_compile' });
    return toTrialAnswer(await tryReactor(context.trials(), { tenantId, code, args, configuration }));
  },
});
