import { tagOf } from '@sluice/cache-coherence';
import type { TransformMessage, TransformUsage, WrittenMessage } from '@sluice/sandbox';
import { decryptSecret } from '@sluice/vault';
import { heldBody } from '../budgets/hold-body.ts';
import type { Context } from '../context.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import { lookUpProxy } from '../proxies/find-proxy.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { logConsole } from './console/log-console.ts';
import { redactThrown } from './console/redact-thrown.ts';
import { newConsoleSecrets } from './console/secrets.ts';
import { createTransformHost } from './transform-host.ts';
import { writtenOf } from './transform-message.ts';

export interface TransformRun {
  kind: 'request' | 'response';
  code: string;
  /** `req.args` as JSON text, without the body. */
  argsJson: string;
  message: TransformMessage;
}

export async function runTransform(
  invocation: Invocation,
  run: TransformRun,
  context: Context,
): Promise<WrittenMessage> {
  const { proxy, head, traceId, trace } = invocation;
  const { id: proxyId, tenantId } = proxy;
  const direction = run.kind === 'request' ? 'request' : 'answer';
  const room = heldBody(invocation, direction, context).run(run.message.text.length);
  if (room) await room;
  // If the Application is the Proxy's no longer, the code sees no client, as if none were set
  const applicationId = proxy.applicationId && (await lookUpProxy(head.proxyKey, context))?.applicationId;
  const application = applicationId && (await context.callers.byId(tenantId, applicationId));
  let configurationJson = '{}';
  let printed: TransformUsage['console'] = [];
  const secretsOfRun = () => {
    const secrets = newConsoleSecrets();
    secrets.add(Object.values<string>(JSON.parse(configurationJson)));
    if (invocation.secrets?.isTooMuch) return undefined;
    secrets.add(invocation.secrets?.texts() ?? []);
    return secrets.texts();
  };
  const onEnd = (usage: TransformUsage) => {
    trace?.ranTransform(usage);
    configurationJson = usage.configurationJson;
    printed = usage.console;
  };
  // After the run's calls, which tell what is secret. The invocation waits, so that the Tenant's places bound how many log
  const logPrinted = () => {
    if (printed.length === 0 || !context.logsConsole) return undefined;
    const printer = { tenantId, proxyId, kind: run.kind, traceId, spanTraceId: trace?.traceId };
    const logged = logConsole(printed, printer, { log: context.log, secrets: secretsOfRun });
    return context.workPieces.run(tenantId, logged);
  };
  try {
    const { message } = await context.transforms.run({
      ...run,
      tenantId,
      proxyId,
      version: proxy,
      configuration: () => readConfiguration(proxy, context),
      onEnd,
      ...(application && {
        host: createTransformHost(invocation, application.id, context),
      }),
    });
    await logPrinted();
    return writtenOf(message);
  } catch (error) {
    await logPrinted();
    throw await context.workPieces.run(tenantId, redactThrown(error, secretsOfRun));
  }
}

async function readConfiguration(proxy: ProxyDefinition, { vault, proxies }: Context): Promise<string> {
  const { tenantId, id: recordId, configurationCiphertext } = proxy;
  if (!configurationCiphertext) return '{}';
  const place = { tenantId, purpose: 'proxy_secrets', recordId, field: 'configuration' } as const;
  try {
    const json = (await decryptSecret(vault, place, configurationCiphertext)).toString();
    JSON.parse(json);
    return json;
  } catch (error) {
    proxies.drop([tagOf.proxy(recordId)]); // the record may be repaired directly in Postgres, which announces nothing
    throw error;
  }
}
