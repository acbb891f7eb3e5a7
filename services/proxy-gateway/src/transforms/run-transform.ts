import { tagOf } from '@sluice/cache-coherence';
import type { TransformResult, TransformUsage } from '@sluice/sandbox';
import { decryptSecret } from '@sluice/vault';
import type { Context } from '../context.ts';
import { contentKind } from '../http/content-type.ts';
import { findHeader, fromHeaderObject, withoutHeaders } from '../http/header-list.ts';
import type { Message } from '../http/message.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { logConsole } from './console/log-console.ts';
import { newConsoleSecrets } from './console/secrets.ts';
import { fromResultBody } from './transform-body.ts';
import { createTransformHost } from './transform-host.ts';

const ofFraming = ['content-length', 'content-encoding'];
const ofDigests = ['content-md5', 'digest'];

export interface TransformRun {
  kind: 'request' | 'response';
  code: string;
  /** `req.args` as JSON text. */
  argsJson: string;
}

/** Runs a transform in the sandbox, with the Proxy's configuration and, if it names an Application, a client for it. */
export async function runTransform(
  invocation: Invocation,
  run: TransformRun,
  context: Context,
): Promise<TransformResult> {
  const { proxy, traceId, trace, sensitive } = invocation;
  const { id: proxyId, tenantId, applicationId } = proxy;
  // One that was deleted or has expired counts as unset: the code then sees no client at all.
  const application = applicationId && (await context.callers.byId(tenantId, applicationId));
  const onEnd = (usage: TransformUsage) => {
    trace?.ranTransform(usage);
    const { console, configurationJson } = usage;
    if (console.length === 0 || !context.logsConsole) return;
    const secrets = newConsoleSecrets();
    secrets.add([Object.values<string>(JSON.parse(configurationJson)), sensitive]);
    logConsole(
      console,
      { tenantId, proxyId, kind: run.kind, traceId, spanTraceId: trace?.traceId },
      { log: context.log, secrets },
    );
  };
  return context.transforms.run({
    ...run,
    tenantId,
    proxyId,
    version: proxy,
    configuration: () => readConfiguration(proxy, context),
    ...((context.logsConsole || trace) && { onEnd }),
    ...(application && {
      host: createTransformHost({ tenantId, applicationId: application.id, traceId, sensitive }, context),
    }),
  });
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
    proxies.drop([tagOf.proxy(recordId)]); // it may have been put right in Postgres, and nobody would say so
    throw error;
  }
}

/** The message that results. What the transform did not return stays; its body has no coding, and its length is ours. */
export function applyResult({ bodyJson, headersJson }: TransformResult, message: Message): Message {
  const returned = headersJson === undefined ? undefined : fromHeaderObject(headersJson);
  if (bodyJson === undefined) {
    return { headers: returned ? withoutHeaders(returned, ...ofFraming) : message.headers, body: message.body };
  }
  const headers = withoutHeaders(returned ?? message.headers, ...ofFraming, ...ofDigests);
  if (message.body.length === 0 && bodyJson === '{}') return { headers, body: message.body };
  const contentType = findHeader(headers, 'content-type');
  if (contentType === undefined && !bodyJson.startsWith('"')) headers.push('Content-Type', 'application/json');
  return { headers, body: fromResultBody(bodyJson, contentKind(contentType)) };
}
