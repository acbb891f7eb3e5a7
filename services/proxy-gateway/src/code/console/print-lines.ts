import type { ConsoleLine } from '@sluice/sandbox';
import type { Logger } from '@sluice/service-runtime';

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

/** Whether the log takes lines of their level. */
export function isPrinted(lines: readonly ConsoleLine[], log: Logger): boolean {
  return log.isLevelEnabled(levelOf(lines));
}

/** Logs redacted lines as one entry with their highest level. */
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
