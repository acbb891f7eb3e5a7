import type { ConsoleLine } from '@sluice/sandbox';
import type { Logger, Pieces } from '@sluice/service-runtime';
import { redactConsole } from './redact.ts';

export interface Printer {
  tenantId: string;
  proxyId?: string;
  /** Of a Proxy's transforms. */
  kind?: 'request' | 'response';
  reactorId?: string;
  traceId: string;
  spanTraceId?: string | undefined;
}

const severity: readonly ConsoleLine['level'][] = ['debug', 'info', 'warn', 'error'];

/** Logs what a transform printed, without its secrets. */
export function* logConsole(
  lines: readonly ConsoleLine[],
  printer: Printer,
  { log, secrets, onRedacted }: LogConsoleOptions,
): Pieces<void> {
  if (!log.isLevelEnabled(levelOf(lines))) return;
  const redacted = yield* redactConsole(lines, secrets());
  onRedacted(redacted);
  printLines(redacted, printer, log);
}

/** One entry with the highest level of its redacted lines. */
export function printLines(lines: readonly ConsoleLine[], printer: Printer, log: Logger): void {
  const printed = lines.filter(({ text }) => text !== '');
  if (printed.length === 0) return;
  const { tenantId, proxyId, reactorId, kind, traceId, spanTraceId } = printer;
  log[levelOf(printed)](
    {
      trace_id: traceId,
      otel_trace_id: spanTraceId,
      proxy_id: proxyId,
      reactor_id: reactorId,
      tenant_id: tenantId,
      transform: kind,
      console: printed,
    },
    reactorId === undefined ? 'transform console' : 'reactor console',
  );
}

function levelOf(lines: readonly ConsoleLine[]): ConsoleLine['level'] {
  return severity[Math.max(...lines.map((line) => severity.indexOf(line.level)))] ?? 'info';
}

export interface LogConsoleOptions {
  /** Called with the logged lines. */
  onRedacted: (lines: readonly ConsoleLine[]) => void;
  log: Logger;
  /** Called only if there is something to log. */
  secrets: () => readonly string[] | undefined;
}
