/** What the feed shows of an invocation. It contains no body, value, path or query. */
export interface InvocationRecord {
  trace_id: string;
  at: string;
  proxy_id: string;
  application_id?: string | undefined;
  method: string;
  status: number;
  destination_status?: number | undefined;
  /** The code of the error that ended it; `caller_gone` where the caller left. */
  refused_by?: string | undefined;
  /** Milliseconds in each stage that it entered, and `total`. */
  stages_ms: Record<string, number>;
  token_ids: readonly string[];
  /** How many values the response guard found. */
  guard_hits?: number | undefined;
  /** The first tokens whose values it found. */
  guard_token_ids?: readonly string[] | undefined;
  /** What its transforms printed, redacted. */
  console?: readonly PrintedLine[] | undefined;
}

interface PrintedLine {
  level: string;
  text: string;
}

export interface FedInvocation {
  /** The id of the entry in the Redis stream. Ids grow with time. */
  id: string;
  /** Consecutive in each Tenant. A gap shows how many invocations were left out. */
  position: number;
  record: InvocationRecord;
}

const feedStages = ['authenticate', 'detokenize', 'transform', 'destination'] as const;

/** An invocation as its gateway knows it. */
export interface EndedInvocation {
  /** Letters, digits and dashes. Of all members only ids of tokens and printed lines may contain quotes or backslashes. */
  traceId: string;
  /** Milliseconds since 1970. */
  beganAt: number;
  proxyId: string;
  applicationId: string | undefined;
  method: string;
  status: number;
  destinationStatus: number | undefined;
  refusedBy: string | undefined;
  /** Milliseconds; 0 for a stage that it did not enter. */
  stages: Readonly<Record<(typeof feedStages)[number], number>>;
  totalMs: number;
  tokenIds: readonly string[] | undefined;
  printed: readonly PrintedLine[] | undefined;
  guardHits?: number | undefined;
  guardTokenIds?: readonly string[] | undefined;
}

/**
 * The invocation as a JSON array on one line. It is concatenated by hand, because every invocation needs one and an object
 * would take ten times as long to write.
 */
export function toLine(of: EndedInvocation): string {
  const { stages } = of;
  const times = `${hundredths(stages.authenticate)},${hundredths(stages.detokenize)},${hundredths(stages.transform)},${hundredths(stages.destination)},${hundredths(of.totalMs)}`;
  const ids = of.tokenIds === undefined ? '' : JSON.stringify(of.tokenIds).slice(1, -1);
  const printed = of.printed === undefined ? '' : JSON.stringify(of.printed).slice(1, -1);
  const guard = of.guardHits ? `,${of.guardHits},${JSON.stringify(of.guardTokenIds ?? [])}` : '';
  return `["${of.traceId}",${Math.round(of.beganAt)},"${of.proxyId}","${of.applicationId ?? ''}","${of.method}",${of.status},${of.destinationStatus ?? 0},"${of.refusedBy ?? ''}",[${times}],[${ids}],[${printed}]${guard}]`;
}

const hundredths = (ms: number) => Math.round(ms * 100);

type Line = [
  ...[traceId: string, beganAt: number, proxyId: string, applicationId: string, method: string, status: number],
  ...[destinationStatus: number, refusedBy: string, times: number[], tokenIds: string[], printed: PrintedLine[]],
  // Gateways of the version before do not write these
  ...[guardHits?: number, guardTokenIds?: string[]],
];

export function fromLine(line: string): InvocationRecord {
  const [traceId, beganAt, proxyId, applicationId, method, status, ...rest] = JSON.parse(line) as Line;
  const [destinationStatus, refusedBy, times, tokenIds, printed, guardHits, guardTokenIds] = rest;
  const entered = feedStages.flatMap((stage, i) => (times[i] ? [[stage, times[i] / 100]] : []));
  return {
    trace_id: traceId,
    at: new Date(beganAt).toISOString(),
    proxy_id: proxyId,
    ...(applicationId !== '' && { application_id: applicationId }),
    method,
    status,
    ...(destinationStatus !== 0 && { destination_status: destinationStatus }),
    ...(refusedBy !== '' && { refused_by: refusedBy }),
    stages_ms: { ...Object.fromEntries(entered), total: (times[feedStages.length] ?? 0) / 100 },
    token_ids: tokenIds,
    ...(guardHits && { guard_hits: guardHits, guard_token_ids: guardTokenIds ?? [] }),
    ...(printed.length > 0 && { console: printed }),
  };
}
