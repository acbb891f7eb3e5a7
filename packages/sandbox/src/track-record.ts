import type { RunAnswer, Stop } from './thread/outcome.ts';

/** What became of the transforms that ran here: whose next run may hold a thread for long. */
export interface TrackRecord {
  /** Whether a transform of the Tenant was slow, or was killed, a short while ago. */
  isSlow(tenantId: string): boolean;
  /**
   * Whether a run of this code is to give way to others: its Tenant is slow, or the code is not known, and such code of
   * the Tenant needed more time a short while ago.
   */
  givesWay(tenantId: string, code: string): boolean;
  /** Whether this code of the Tenant has come to a quick end here. */
  isKnown(tenantId: string, code: string): boolean;
  /** So much CPU time a run of this code may use before it is to give way. */
  quickMs(tenantId: string, code: string): number;
  /**
   * How many runs of this code may share a turn of a thread, by what its last run took: 1 for code that is not known,
   * is slow, or calls the client, for which the others would wait.
   */
  runsOfTurn(tenantId: string, code: string): number;
  /** A run ended, by itself or stopped by `limit`; without an answer its thread ended with it. */
  ended(tenantId: string, code: string, answer: RunAnswer | undefined, limit?: Stop): void;
}

export interface TrackRecordOptions {
  /** A run that uses so much CPU time is slow. */
  slowMs: number;
  /** So much a run of code that is not known has at first: hostile code is always new, and comes often. */
  newCodeMs: number;
  /** How long a Tenant is slow after a slow run, and its new code gives way after one that needed more time. */
  memoryMs: number;
  /** Milliseconds; `performance.now` without it. */
  clock?: () => number;
}

/** Limits that a run reaches only after it has held its thread for long, or has lost it. */
const slowStops: readonly Stop[] = ['cpuMs', 'wallMs', 'heapBytes', 'crashed'];
/** What is forgotten is learnt again from its next run; first of the Tenant with the most, who harms but itself. */
const mostTenants = 10_000;
const mostCodeUnits = 8 * 2 ** 20;

/** What the runs of one turn take together, as far as their code is known, and how many they are at most. */
const turnMs = 1;
const mostRunsOfTurn = 16;

interface TenantRecord {
  slowUntil: number;
  newCodeSlowUntil: number;
  /** Sources that came to a quick end, and how many runs of each fit into a turn. */
  quick: Map<string, number>;
  /** Of these sources together. */
  codeUnits: number;
}

export function newTrackRecord(options: TrackRecordOptions): TrackRecord {
  const { slowMs, newCodeMs, memoryMs, clock = () => performance.now() } = options;
  const tenants = new Map<string, TenantRecord>();
  let codeUnits = 0;

  function forgetQuick(record: TenantRecord): void {
    codeUnits -= record.codeUnits;
    record.codeUnits = 0;
    record.quick.clear();
  }

  const largest = () => [...tenants.values()].reduce((most, each) => (each.codeUnits > most.codeUnits ? each : most));

  function recordOf(tenantId: string): TenantRecord {
    const known = tenants.get(tenantId);
    if (known) return known;
    const [oldest] = tenants;
    if (oldest && tenants.size >= mostTenants) {
      forgetQuick(oldest[1]);
      tenants.delete(oldest[0]);
    }
    const record: TenantRecord = { slowUntil: 0, newCodeSlowUntil: 0, quick: new Map(), codeUnits: 0 };
    tenants.set(tenantId, record);
    return record;
  }

  function addQuick(record: TenantRecord, code: string, answer: RunAnswer): void {
    if (!record.quick.has(code)) {
      while (codeUnits > 0 && codeUnits + code.length > mostCodeUnits) forgetQuick(largest());
      codeUnits += code.length;
      record.codeUnits += code.length;
    }
    record.quick.set(code, runsThatFit(answer));
  }

  const isKnown = (tenantId: string, code: string) => tenants.get(tenantId)?.quick.has(code) ?? false;

  return {
    isSlow: (tenantId) => (tenants.get(tenantId)?.slowUntil ?? 0) > clock(),
    givesWay: (tenantId, code) => {
      const record = tenants.get(tenantId);
      if (!record) return false;
      return Math.max(record.slowUntil, record.quick.has(code) ? 0 : record.newCodeSlowUntil) > clock();
    },
    isKnown,
    quickMs: (tenantId, code) => (isKnown(tenantId, code) ? slowMs : newCodeMs),
    runsOfTurn: (tenantId, code) => {
      const record = tenants.get(tenantId);
      return record && record.slowUntil <= clock() ? (record.quick.get(code) ?? 1) : 1;
    },
    ended: (tenantId, code, answer, limit) => {
      const record = recordOf(tenantId);
      const until = clock() + memoryMs;
      const isSlow = !answer || answer.cpuMs >= slowMs || (limit !== undefined && slowStops.includes(limit));
      if (isSlow) record.slowUntil = until;
      else if (answer.isCut || answer.outcome.kind === 'slow') record.newCodeSlowUntil = until;
      else addQuick(record, code, answer);
    },
  };
}

function runsThatFit({ cpuMs, hostCalls }: RunAnswer): number {
  if (hostCalls > 0) return 1;
  return Math.min(Math.max(Math.floor(turnMs / cpuMs), 1), mostRunsOfTurn);
}
