/** What the feed shows of an invocation of a Proxy, or of a run of a reactor. It contains no body, value, path or query. */
export interface InvocationRecord {
  trace_id: string;
  at: string;
  /** Absent in a run of a reactor. */
  proxy_id?: string | undefined;
  reactor_id?: string | undefined;
  application_id?: string | undefined;
  method: string;
  status: number;
  destination_status?: number | undefined;
  /** The code of the error that ended it; `caller_gone` where the caller left. */
  refused_by?: string | undefined;
  /** Why the destination sent no usable response. */
  detail?: string | undefined;
  /** Milliseconds in each stage that it entered, and `total`. */
  stages_ms: Record<string, number>;
  token_ids: readonly string[];
  /** How many values the response guard found. */
  guard_hits?: number | undefined;
  /** The first tokens whose values it found. */
  guard_token_ids?: readonly string[] | undefined;
  /** What its transforms, or the code of its reactor, printed, redacted. */
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
/** By the places of {@link feedStages} in a line. */
const runStages = ['authenticate', 'detokenize', 'code', 'destination'] as const;

/** An invocation or a run as its gateway knows it. In a run the stage `transform` is the code of the reactor. */
export interface EndedInvocation {
  /** Letters, digits and dashes. Of all members only ids of tokens and printed lines may contain quotes or backslashes. */
  traceId: string;
  /** Milliseconds since 1970. */
  beganAt: number;
  /** The Proxy, or the reactor of a run. */
  ownerId: string;
  isRun: boolean;
  applicationId: string | undefined;
  method: string;
  status: number;
  destinationStatus: number | undefined;
  refusedBy: string | undefined;
  /** Of an error of the destination. It may contain any text. */
  detail?: string | undefined;
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
 * would take ten times as long to write. What a run printed stands in a place of its own, which tells runs from invocations:
 * a management API of the version before would show it to callers who may not update reactors.
 */
export function toLine(of: EndedInvocation): string {
  const { stages } = of;
  const times = `${hundredths(stages.authenticate)},${hundredths(stages.detokenize)},${hundredths(stages.transform)},${hundredths(stages.destination)},${hundredths(of.totalMs)}`;
  const ids = of.tokenIds === undefined ? '' : JSON.stringify(of.tokenIds).slice(1, -1);
  const printed = of.printed === undefined ? '' : JSON.stringify(of.printed).slice(1, -1);
  const guard = of.guardHits ? `,${of.guardHits},${JSON.stringify(of.guardTokenIds ?? [])}` : '';
  const detail = of.detail === undefined ? '' : `${guard || ',0,[]'},null,${JSON.stringify(of.detail)}`;
  const rest = of.isRun ? `[],0,[],[${printed}]` : `[${printed}]${detail || guard}`;
  return `["${of.traceId}",${Math.round(of.beganAt)},"${of.ownerId}","${of.applicationId ?? ''}","${of.method}",${of.status},${of.destinationStatus ?? 0},"${of.refusedBy ?? ''}",[${times}],[${ids}],${rest}]`;
}

const hundredths = (ms: number) => Math.round(ms * 100);

type Line = [
  ...[traceId: string, beganAt: number, ownerId: string, applicationId: string, method: string, status: number],
  ...[destinationStatus: number, refusedBy: string, times: number[], tokenIds: string[], printed: PrintedLine[]],
  ...[guardHits?: number, guardTokenIds?: string[]],
  // Only runs have the first, and only failures of a destination the second; gateways of older versions write neither
  ...[printedByRun?: PrintedLine[] | null, detail?: string],
];

export function fromLine(line: string): InvocationRecord {
  const [traceId, beganAt, ownerId, applicationId, method, status, ...rest] = JSON.parse(line) as Line;
  const [destinationStatus, refusedBy, times, tokenIds, printed, guardHits, guardTokenIds, printedByRun, detail] = rest;
  const stages = printedByRun ? runStages : feedStages;
  const entered = stages.flatMap((stage, i) => (times[i] ? [[stage, times[i] / 100]] : []));
  const lines = printedByRun ?? printed;
  return {
    trace_id: traceId,
    at: new Date(beganAt).toISOString(),
    ...(printedByRun ? { reactor_id: ownerId } : { proxy_id: ownerId }),
    ...(applicationId !== '' && { application_id: applicationId }),
    method,
    status,
    ...(destinationStatus !== 0 && { destination_status: destinationStatus }),
    ...(refusedBy !== '' && { refused_by: refusedBy }),
    ...(detail !== undefined && { detail }),
    stages_ms: { ...Object.fromEntries(entered), total: (times[feedStages.length] ?? 0) / 100 },
    token_ids: tokenIds,
    ...(guardHits && { guard_hits: guardHits, guard_token_ids: guardTokenIds ?? [] }),
    ...(lines.length > 0 && { console: lines }),
  };
}
