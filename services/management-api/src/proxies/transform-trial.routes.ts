import { validationFailed } from '@sluice/problems';
import { tryTransform } from '@sluice/sandbox';
import { isNestedDeeperThan } from '@sluice/vault';
import { operation } from '../context.ts';
import { checkCode, checkConfigurationSize } from './proxy.definition.ts';
import { transformTrial, transformTrialBody } from './transform-trial.schema.ts';

/** A body of 5 MiB, as gateways accept it, plus code and configuration. */
const bodyLimitBytes = 6 * 2 ** 20;

/** Serializing deeper nesting would take seconds. */
const deepestArgs = 500;

export const testTransform = operation({
  id: 'testTransform',
  tag: 'Proxies',
  summary: 'Try a transform',
  description:
    'Runs the code on the given `args` with the engine and the limits of invocations, and answers what it returned or what went wrong in it. No destination is called, and `req.svc` is absent. At most a few run at a time for each Tenant: where too many wait, the answer is 503 with `Retry-After`.',
  method: 'post',
  path: '/proxies/test-transform',
  permission: 'proxy:update',
  body: transformTrialBody,
  bodyLimitBytes,
  opaque: ['args'],
  idempotent: false,
  response: { 200: transformTrial },
  errors: ['transform_does_not_compile'],
  async handle({ body: { code, args, configuration = {}, kind }, caller: { tenantId } }, context) {
    checkConfigurationSize(configuration);
    if (isNestedDeeperThan(deepestArgs, args))
      throw validationFailed({ args: [`is nested deeper than ${deepestArgs} levels`] });
    await checkCode('code', code, { tenantId, context });
    const task = { tenantId, kind, code, args, configuration };
    const { result, error, console, durationMs, cpuMs } = await tryTransform(context.trials(), task);
    return {
      ...(error ? { error } : { result }),
      console,
      duration_ms: rounded(durationMs),
      ...(cpuMs !== undefined && { cpu_ms: rounded(cpuMs) }),
    };
  },
});

const rounded = (ms: number) => Math.round(ms * 100) / 100;
