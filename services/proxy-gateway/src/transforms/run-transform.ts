import { tagOf } from '@sluice/cache-coherence';
import { endedEarly } from '@sluice/problems';
import type { ConsoleLine, TransformMessage, TransformUsage, WrittenMessage } from '@sluice/sandbox';
import { type Looking, look, lookBeforeCode } from '../acting/look.ts';
import type { Context } from '../context.ts';
import { bytesToRun, memoryOf } from '../limits/body-memory.ts';
import { notePrinted } from '../observation/note-for-feed.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { logConsole } from './console/log-console.ts';
import { redactThrown } from './console/redact-thrown.ts';
import { ConsoleSecrets } from './console/secrets.ts';
import { readConfiguration, type StoredConfiguration } from './read-configuration.ts';
import { type Hosting, transformHost } from './transform-host.ts';
import { writtenOf } from './transform-message.ts';

export type Transforming = Looking & Hosting & Pick<Context, 'proxies' | 'transforms' | 'logsConsole' | 'log'>;

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
  context: Transforming,
): Promise<WrittenMessage> {
  const { acting, proxy, traceId, trace } = invocation;
  const { id: proxyId, tenantId } = proxy;
  const direction = run.kind === 'request' ? 'request' : 'answer';
  const memory = memoryOf(acting, direction, context);
  const room = memory.grow(bytesToRun(run.message.body.byteLength, context) - memory.bytes);
  if (room) await room;
  if (invocation.response.destroyed) throw endedEarly();
  // If the Proxy no longer has this Application, the code sees no client, as if none were set
  const applicationId = proxy.applicationId && (await acting.selection.find())?.applicationId;
  const application = applicationId && (await context.callers.byId(tenantId, applicationId));
  let configurationJson = '{}';
  let printed: TransformUsage['console'] = [];
  const secretsOfRun = () => {
    const secrets = new ConsoleSecrets();
    secrets.add(Object.values<string>(JSON.parse(configurationJson)));
    if (acting.secrets?.isTooMuch) return undefined;
    secrets.add(acting.secrets?.texts() ?? []);
    return secrets.texts();
  };
  const onEnd = (usage: TransformUsage) => {
    trace?.ranTransform(usage);
    configurationJson = usage.configurationJson;
    printed = usage.console;
  };
  // After the run's calls, which reveal what is secret. The invocation waits, so that the Tenant's limit also bounds
  // this work
  const logPrinted = () => {
    if (printed.length === 0 || !context.logsConsole) return undefined;
    const printer = { tenantId, proxyId, kind: run.kind, traceId, spanTraceId: trace?.traceId };
    const onRedacted = (lines: readonly ConsoleLine[]) => notePrinted(invocation, lines);
    const logged = logConsole(printed, printer, { log: context.log, secrets: secretsOfRun, onRedacted });
    return context.workPieces.run(tenantId, logged);
  };
  try {
    const { message } = await context.transforms.run({
      ...run,
      tenantId,
      ownerId: proxyId,
      version: proxy,
      configuration: () => readConfiguration(storedConfiguration(proxy, context), context),
      ...(run.kind === 'request' && { look: () => lookBeforeCode(acting, context) }),
      onEnd,
      ...(application && {
        host: transformHost(acting, { through: throughOf(invocation), applicationId: application.id }, context),
      }),
    });
    await logPrinted();
    return writtenOf(message);
  } catch (error) {
    await logPrinted();
    const thrown = await context.workPieces.run(tenantId, redactThrown(error, secretsOfRun));
    // The response may be the code's own, or the error that it threw
    if (run.kind === 'request') await look(acting, context);
    throw thrown;
  }
}

function throughOf({ proxy, head }: Invocation) {
  const destinationHost = proxy.destination.host;
  return { entityType: 'proxy', entityId: proxy.id, destinationHost, method: head.method } as const;
}

function storedConfiguration(
  { tenantId, id: recordId, configurationCiphertext: ciphertext }: ProxyDefinition,
  { proxies }: Pick<Context, 'proxies'>,
): StoredConfiguration {
  const place = { tenantId, purpose: 'proxy_secrets', recordId, field: 'configuration' } as const;
  return { place, ciphertext, drop: () => proxies.drop([tagOf.proxy(recordId)]) };
}
