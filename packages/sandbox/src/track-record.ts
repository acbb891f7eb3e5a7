import type { RunAnswer, Stop } from './thread/outcome.ts';

/** What became of the transforms that ran here: whose next run may hold a thread for long. */
export interface TrackRecord {
  /** Whether a transform of the Tenant was slow, or was killed, a short while ago. */
  isSlow(tenantId: string): boolean;
  /** Whether this code of the Tenant has come to a quick end here. */
  isKnown(tenantId: string, code: string): boolean;
  /**
   * How many runs of this code may share a turn of a thread, by what its last run took: 1 for code that is not known,
   * is slow, or calls the client, for which the others would wait.
   */
  runsOfTurn(tenantId: string, code: string): number;
  /** A run ended; without an answer its thread ended with it. */
  ended(tenantId: string, code: string, answer: RunAnswer | undefined): void;
}

export interface TrackRecordOptions {
  /** A run that uses so much CPU time is slow. */
  slowMs: number;
  /** How long a Tenant is slow after a slow run. */
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
  /** Sources that came to a quick end, and how many runs of each fit into a turn. */
  quick: Map<string, number>;
}

export function newTrackRecord({ slowMs, memoryMs, clock = () => performance.now() }: TrackRecordOptions): TrackRecord {
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
    const record: TenantRecord = { slowUntil: 0, quick: new Map() };
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

  return {
    isSlow: (tenantId) => (tenants.get(tenantId)?.slowUntil ?? 0) > clock(),
    isKnown: (tenantId, code) => tenants.get(tenantId)?.quick.has(code) ?? false,
    runsOfTurn: (tenantId, code) => {
      const record = tenants.get(tenantId);
      return record && record.slowUntil <= clock() ? (record.quick.get(code) ?? 1) : 1;
    },
    ended: (tenantId, code, answer) => {
      const record = recordOf(tenantId);
      if (answer && isQuick(answer, slowMs)) addQuick(record, code, answer);
      else record.slowUntil = clock() + memoryMs;
    },
  };
}

const isQuick = ({ cpuMs, outcome }: RunAnswer, slowMs: number) =>
  cpuMs < slowMs && outcome.kind !== 'slow' && !(outcome.kind === 'stopped' && slowStops.includes(outcome.by));

function runsThatFit({ cpuMs, hostCalls }: RunAnswer): number {
  if (hostCalls > 0) return 1;
  return Math.min(Math.max(Math.floor(turnMs / cpuMs), 1), mostRunsOfTurn);
}
