import type { RunAnswer, Stop } from './thread/outcome.ts';

/** What became of the transforms that ran here: whose next run may hold a thread for long. */
export interface TrackRecord {
  /**
   * Whether a run of this code is to give way to others: a short while ago a transform of the Tenant was slow or was
   * killed; or the code is not known, and other such code of the Tenant has not come to a quick end.
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
  trialMs: number;
  /** How long a Tenant is slow after a slow run, and its new code in doubt after a trial that was too short. */
  memoryMs: number;
  /** Milliseconds; `performance.now` without it. */
  clock?: () => number;
}

/** Limits that a run reaches only after it has held its thread for long, or has lost it. */
const slowStops: readonly Stop[] = ['cpuMs', 'wallMs', 'heapBytes', 'crashed'];
/** What is forgotten is learnt again from its next run: these bound memory, and nothing else. */
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
}

export function newTrackRecord(options: TrackRecordOptions): TrackRecord {
  const { slowMs, trialMs, memoryMs, clock = () => performance.now() } = options;
  const tenants = new Map<string, TenantRecord>();
  let codeUnits = 0;

  function forgetQuick({ quick }: TenantRecord): void {
    for (const code of quick.keys()) codeUnits -= code.length;
    quick.clear();
  }

  function recordOf(tenantId: string): TenantRecord {
    const known = tenants.get(tenantId);
    if (known) return known;
    const [oldest] = tenants;
    if (oldest && tenants.size >= mostTenants) {
      forgetQuick(oldest[1]);
      tenants.delete(oldest[0]);
    }
    const record: TenantRecord = { slowUntil: 0, newCodeSlowUntil: 0, quick: new Map() };
    tenants.set(tenantId, record);
    return record;
  }

  function addQuick(record: TenantRecord, code: string, answer: RunAnswer): void {
    const isNew = !record.quick.has(code);
    record.quick.set(code, runsThatFit(answer));
    if (!isNew) return;
    codeUnits += code.length;
    for (const other of tenants.values()) {
      if (codeUnits <= mostCodeUnits) return;
      forgetQuick(other);
    }
  }

  const isKnown = (tenantId: string, code: string) => tenants.get(tenantId)?.quick.has(code) ?? false;

  return {
    givesWay: (tenantId, code) => {
      const record = tenants.get(tenantId);
      if (!record) return false;
      return Math.max(record.slowUntil, record.quick.has(code) ? 0 : record.newCodeSlowUntil) > clock();
    },
    isKnown,
    quickMs: (tenantId, code) => (isKnown(tenantId, code) ? slowMs : trialMs),
    runsOfTurn: (tenantId, code) => {
      const record = tenants.get(tenantId);
      return record && record.slowUntil <= clock() ? (record.quick.get(code) ?? 1) : 1;
    },
    ended: (tenantId, code, answer, limit) => {
      const record = recordOf(tenantId);
      const until = clock() + memoryMs;
      const isSlow = !answer || answer.cpuMs >= slowMs || (limit !== undefined && slowStops.includes(limit));
      if (!isSlow && cameToAnEnd(answer)) addQuick(record, code, answer);
      else if (!isSlow) record.newCodeSlowUntil = until;
      else record.slowUntil = until;
    },
  };
}

/** And not only to the end of its trial, with or without a result. */
const cameToAnEnd = ({ outcome, isCut }: RunAnswer) => outcome.kind !== 'slow' && !(outcome.kind === 'result' && isCut);

function runsThatFit({ cpuMs, hostCalls }: RunAnswer): number {
  if (hostCalls > 0) return 1;
  return Math.min(Math.max(Math.floor(turnMs / cpuMs), 1), mostRunsOfTurn);
}
