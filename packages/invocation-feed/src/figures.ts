/** What a gateway counts of one Tenant in one minute. */
export interface MinuteCounts {
  requests: number;
  errors: Map<string, number>;
  /** The number of invocations in each bucket of durations. */
  durations: Uint32Array;
}

export function emptyMinuteCounts(): MinuteCounts {
  return { requests: 0, errors: new Map(), durations: new Uint32Array(buckets) };
}

export function countInvocation(counts: MinuteCounts, durationMs: number, cause: string | undefined): void {
  counts.requests++;
  const bucket = bucketOf(durationMs);
  counts.durations[bucket] = (counts.durations[bucket] ?? 0) + 1;
  if (cause !== undefined) counts.errors.set(cause, (counts.errors.get(cause) ?? 0) + 1);
}

/** Eight buckets for each doubling, so that a percentile is at most 5 % from the true one. */
const perDoubling = 8;
const shortestMs = 0.1;
/** The last bucket is for an hour and more. */
const buckets = 202;

function bucketOf(ms: number): number {
  return Math.min(buckets - 1, Math.round(perDoubling * Math.log2(Math.max(ms, shortestMs) / shortestMs)));
}

function durationOf(bucket: number): number {
  return Number((shortestMs * 2 ** (bucket / perDoubling)).toPrecision(3));
}

/** Each list has one entry for each minute, oldest first. A minute without invocations has no percentiles. */
export interface Figures {
  requests: number[];
  errors: Record<string, number[]>;
  latency_ms: { p50: (number | null)[]; p99: (number | null)[] };
}

export function figuresOf(minutes: readonly MinuteCounts[]): Figures {
  const causes = [...new Set(minutes.flatMap(({ errors }) => [...errors.keys()]))].sort();
  return {
    requests: minutes.map(({ requests }) => requests),
    errors: Object.fromEntries(causes.map((cause) => [cause, minutes.map(({ errors }) => errors.get(cause) ?? 0)])),
    latency_ms: { p50: minutes.map((one) => percentile(one, 0.5)), p99: minutes.map((one) => percentile(one, 0.99)) },
  };
}

function percentile({ durations }: MinuteCounts, share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0);
  let passed = 0;
  for (const [bucket, count] of durations.entries()) {
    passed += count;
    if (count > 0 && passed >= share * total) return durationOf(bucket);
  }
  return null;
}

/** The fields of a Redis hash, each followed by its count. */
export function toFields({ requests, errors, durations }: MinuteCounts): (string | number)[] {
  const fields: (string | number)[] = ['requests', requests];
  for (const [cause, count] of errors) fields.push(`error:${cause}`, count);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const count = durations[bucket] ?? 0;
    if (count > 0) fields.push(`ms:${bucket}`, count);
  }
  return fields;
}

export function fromFields(fields: Readonly<Record<string, string>>): MinuteCounts {
  const counts = emptyMinuteCounts();
  for (const [field, text] of Object.entries(fields)) {
    const [kind, name = ''] = field.split(':');
    const count = Number(text);
    if (kind === 'requests') counts.requests = count;
    else if (kind === 'error') counts.errors.set(name, count);
    else if (kind === 'ms') counts.durations[Number(name)] = count;
  }
  return counts;
}
