import { tryReactor } from '@sluice/sandbox';
import { type Json, requireExactNumbers } from '@sluice/vault';
import { operation } from '../context.ts';
import { checkCode, checkConfigurationSize } from '../proxies/proxy.definition.ts';
import { checkArgs, toTrialAnswer, trialBodyLimitBytes } from '../proxies/transform-trial.routes.ts';
import { reactorTrial, reactorTrialBody } from './reactor-trial.schema.ts';

export const testReactor = operation({
  id: 'testReactor',
  tag: 'Reactors',
  summary: 'Test the code of a reactor',
  description:
    'Runs the code with your `args`, in the engine of reactors. The response has what the code returned, or its error. Nothing is stored, no token is created, there is no `req.svc`, and `fetch` rejects. If too many tests of the Tenant are queued, the response is 503 with `Retry-After`.',
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
