import { setTimeout as delay } from 'node:timers/promises';
import { type Log, type Sluice, SluiceError } from '@sluice/sdk';

/** The log shows a call within this time. */
const untilVisibleMs = 2000;
const mostRows = 2000;

/**
 * The calls of a session, counted by route and method.
 * @returns undefined if the key may not read the log.
 */
export async function readCalls(
  management: Sluice,
  sessionId: string,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const options = { signal };
  const query = { actor_id: sessionId, entity_type: 'proxy', operation: 'use', size: 100 } as const;
  try {
    // Before waiting: a key that may not read the log is refused at once.
    await management.logs.list({ ...query, size: 1 }, options).page();
    await delay(untilVisibleMs, undefined, { signal });
    const rows: Log[] = [];
    for await (const row of management.logs.list(query, options)) {
      rows.push(row);
      if (rows.length === mostRows) break;
    }
    return linesFor(rows);
  } catch (error) {
    if (error instanceof SluiceError && error.status === 403) return undefined;
    throw error;
  }
}

function linesFor(rows: readonly Log[]): string[] {
  // A call may have a row for the caller's tokens and one for those of the Proxy's Application, and a trace many calls.
  const inTraces = new Map<string, { what: string; byApplication: Map<unknown, number> }>();
  for (const { trace_id, detail } of rows.filter(isOfCall)) {
    const what = whatOf(detail);
    const place = `${trace_id} ${what}`;
    const { byApplication } = inTraces.get(place) ?? { byApplication: new Map<unknown, number>() };
    byApplication.set(detail?.application_id, (byApplication.get(detail?.application_id) ?? 0) + 1);
    inTraces.set(place, { what, byApplication });
  }
  const counts = new Map<string, number>();
  for (const { what, byApplication } of inTraces.values())
    counts.set(what, (counts.get(what) ?? 0) + Math.max(...byApplication.values()));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const few = total === 0 ? 'no calls' : total === 1 ? '1 call:' : `${total} calls:`;
  return [
    rows.length < mostRows ? few : `the newest ${total} calls (older calls are not counted):`,
    ...[...counts].sort().map(([what, count]) => `  ${what}: ${count}`),
  ];
}

/** Not a row about what came back, or about what code of the Proxy read. */
function isOfCall({ detail = {} }: Log): boolean {
  const isOfCode = Array.isArray(detail.places) && detail.places.includes('transform');
  return detail.guard_hits === undefined && !isOfCode;
}

function whatOf(detail: Log['detail'] = {}): string {
  const { path_name, method, destination_host, refused } = detail;
  return [path_name, method, destination_host, refused !== undefined && '(refused)'].filter(Boolean).join(' ');
}
