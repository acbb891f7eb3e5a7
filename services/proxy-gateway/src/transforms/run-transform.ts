import { endedEarly } from '@sluice/problems';
import { type ConsoleLine, runCode, type TransformMessage, type WrittenMessage } from '@sluice/sandbox';
import { type Looking, look, lookBeforeCode } from '../acting/look.ts';
import { clientHost, type Hosting } from '../code/client-host.ts';
import { isPrinted, printLines } from '../code/console/print-lines.ts';
import { configurationOf, readConfiguration } from '../code/read-configuration.ts';
import { redactionOf } from '../code/redaction.ts';
import type { Context } from '../context.ts';
import { bytesToRun } from '../limits/body-memory.ts';
import { notePrinted } from '../observation/note-for-feed.ts';
import type { Invocation } from '../proxies/invocation.ts';
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
  const { acting, proxy, trace } = invocation;
  const { id: proxyId, tenantId } = proxy;
  const direction = run.kind === 'request' ? 'request' : 'answer';
  const room = acting.memory.part(direction).growTo(bytesToRun(run.message.body.byteLength, context));
  if (room) await room;
  if (invocation.response.destroyed) throw endedEarly();
  // If the Proxy no longer has this Application, the code sees no client, as if none were set
  const applicationId = proxy.applicationId && (await acting.selection.findAgain())?.applicationId;
  const application = applicationId && (await context.callers.byId(tenantId, applicationId));
  try {
    const { message } = await runCode(context.transforms, {
      ...run,
      tenantId,
      ownerId: proxyId,
      version: proxy,
      configuration: () => readConfiguration(configurationOf(proxy, context), context),
      ...(run.kind === 'request' && { look: () => lookBeforeCode(acting, context) }),
      ...(application && {
        host: clientHost(acting, clientOf(invocation, run.kind, application.id), context),
      }),
      redaction: redactionOf(acting, context, (lines) => isPrinted(lines, context.log)),
      onConsole: context.logsConsole ? (lines) => showPrinted(lines, { invocation, run }, context) : undefined,
      ...(trace && { onEnd: (usage) => trace.ranTransform(usage) }),
    });
    return writtenOf(message);
  } catch (error) {
    // The response may be the code's own, or the error that it threw
    if (run.kind === 'request') await look(acting, context);
    throw error;
  }
}

function showPrinted(
  lines: readonly ConsoleLine[],
  { invocation, run: { kind } }: { invocation: Invocation; run: TransformRun },
  { log }: Pick<Context, 'log'>,
): void {
  const { proxy, traceId, trace } = invocation;
  notePrinted(invocation, lines);
  printLines(lines, { tenantId: proxy.tenantId, proxyId: proxy.id, kind, traceId, spanTraceId: trace?.traceId }, log);
}

/** What a response transform reveals is meant for the caller. */
function clientOf({ proxy, head, acting }: Invocation, kind: TransformRun['kind'], applicationId: string) {
  const destinationHost = proxy.destination.host;
  const { target, route } = head;
  const pathName = route && { pathName: route.pathName };
  const through = {
    entityType: 'proxy',
    entityId: proxy.id,
    destinationHost,
    method: target.method,
    ...pathName,
  } as const;
  return { through, applicationId, guard: kind === 'request' ? acting.guard : undefined };
}
