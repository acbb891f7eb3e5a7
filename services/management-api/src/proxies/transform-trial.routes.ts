import { validationFailed } from '@sluice/problems';
import { type ReactorTrial, type TransformTrial, tryTransform } from '@sluice/sandbox';
import { ClientStandIn, isNestedDeeperThan } from '@sluice/vault';
import { operation } from '../context.ts';
import { checkCode, checkConfigurationSize } from './proxy.definition.ts';
import { transformTrial, transformTrialBody } from './transform-trial.schema.ts';

/** A body of 5 MiB, as gateways accept it, plus code and configuration. */
export const trialBodyLimitBytes = 6 * 2 ** 20;

/** Serializing deeper nesting would take seconds. */
const deepestArgs = 500;

export const testTransform = operation({
  id: 'testTransform',
  tag: 'Proxies',
  summary: 'Test a transform',
  description:
    'Runs the code with your `args`, with the same engine and the same limits as an invocation. The response has what the code returned, or its error. No destination is called. A stand-in replaces `req.svc`. The stand-in stores tokens only during this run, and has no rules, masks or search. If too many tests of the Tenant are queued, the response is 503 with `Retry-After`.',
  method: 'post',
  path: '/proxies/test-transform',
  permission: 'proxy:update',
  body: transformTrialBody,
  bodyLimitBytes: trialBodyLimitBytes,
  opaque: ['args'],
  idempotent: false,
  showsSecrets: true,
  response: { 200: transformTrial },
  errors: ['transform_does_not_compile'],
  async handle({ body: { code, args, configuration = {}, kind }, caller: { tenantId } }, context) {
    checkConfigurationSize(configuration);
    checkArgs(args);
    await checkCode('code', code, { tenantId, context });
    const client = new ClientStandIn();
    const host = (operation: string, payloadJson: string) => client.answer(operation, payloadJson);
    const task = { tenantId, kind, code, args, configuration, host };
    const trial = toTrialAnswer(await tryTransform(context.trials(), task));
    if (client.calls === 0) return trial;
    return { ...trial, client: { answered_by: 'stand-in', calls: client.calls } };
  },
});

/** @throws {ServiceError} `validation_failed` */
export function checkArgs(args: unknown): void {
  if (!isNestedDeeperThan(deepestArgs, args)) return;
  throw validationFailed({ args: [`is nested deeper than ${deepestArgs} levels`] });
}

export function toTrialAnswer({ result, error, console, durationMs, cpuMs }: TransformTrial | ReactorTrial) {
  return {
    ...(error ? { error } : { result }),
    console,
    duration_ms: rounded(durationMs),
    ...(cpuMs !== undefined && { cpu_ms: rounded(cpuMs) }),
  };
}

const rounded = (ms: number) => Math.round(ms * 100) / 100;
