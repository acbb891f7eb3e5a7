import type { Stop, TaskAnswer } from './thread/outcome.ts';

/** What became of the transforms that ran here: whose next run may hold a thread for long. */
export interface TrackRecord {
  /** Whether a transform of the Tenant was slow, or was killed, a short while ago. */
  isSlow(tenantId: string): boolean;
  /** Whether this code of the Tenant has come to a quick end here. */
  isKnown(tenantId: string, code: string): boolean;
  /** A run ended; without an answer its thread ended with it. */
  ended(tenantId: string, code: string, answer: TaskAnswer | undefined): void;
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

interface TenantRecord {
  slowUntil: number;
  /** Sources that came to a quick end. */
  quick: Set<string>;
}

export function newTrackRecord({ slowMs, memoryMs, clock = () => performance.now() }: TrackRecordOptions): TrackRecord {
  const tenants = new Map<string, TenantRecord>();
  let codeUnits = 0;

  function forgetQuick({ quick }: TenantRecord): void {
    for (const code of quick) codeUnits -= code.length;
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
    const record: TenantRecord = { slowUntil: 0, quick: new Set() };
    tenants.set(tenantId, record);
    return record;
  }

  function addQuick(record: TenantRecord, code: string): void {
    if (record.quick.has(code)) return;
    record.quick.add(code);
    codeUnits += code.length;
    for (const other of tenants.values()) {
      if (codeUnits <= mostCodeUnits) return;
      forgetQuick(other);
    }
  }

  return {
    isSlow: (tenantId) => (tenants.get(tenantId)?.slowUntil ?? 0) > clock(),
    isKnown: (tenantId, code) => tenants.get(tenantId)?.quick.has(code) ?? false,
    ended: (tenantId, code, answer) => {
      const record = recordOf(tenantId);
      if (answer && isQuick(answer, slowMs)) addQuick(record, code);
      else record.slowUntil = clock() + memoryMs;
    },
  };
}

const isQuick = ({ cpuMs, outcome }: TaskAnswer, slowMs: number) =>
  cpuMs < slowMs && !(outcome.kind === 'stopped' && slowStops.includes(outcome.by));
