import type { ConsoleLine } from '@sluice/sandbox';
import type { Logger, Pieces } from '@sluice/service-runtime';
import { redactConsole } from './redact.ts';

export interface Printer {
  tenantId: string;
  proxyId: string;
  kind: 'request' | 'response';
  traceId: string;
  spanTraceId: string | undefined;
}

const severity: readonly ConsoleLine['level'][] = ['debug', 'info', 'warn', 'error'];

/** Logs what a transform printed, without its secrets, as one entry with the highest level of its lines. */
export function* logConsole(
  lines: readonly ConsoleLine[],
  printer: Printer,
  { log, secrets }: LogConsoleOptions,
): Pieces<void> {
  const printed = lines.filter(({ text }) => text !== '');
  if (printed.length === 0) return;
  const level = severity[Math.max(...printed.map((line) => severity.indexOf(line.level)))] ?? 'info';
  if (!log.isLevelEnabled(level)) return;
  const redacted = yield* redactConsole(printed, secrets());
  const { tenantId, proxyId, kind, traceId, spanTraceId } = printer;
  log[level](
    {
      trace_id: traceId,
      otel_trace_id: spanTraceId,
      proxy_id: proxyId,
      tenant_id: tenantId,
      transform: kind,
      console: redacted,
    },
    'transform console',
  );
}

export interface LogConsoleOptions {
  log: Logger;
  /** Called only where there is something to log. */
  secrets: () => readonly string[] | undefined;
}
