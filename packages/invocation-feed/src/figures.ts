/** What is counted of some invocations, such as those of a Tenant in one minute. */
export interface Counts {
  requests: number;
  /** Of which the destination itself answered 5xx. */
  destinationErrors: number;
  /** By error code. */
  errors: Map<string, number>;
  /** By bucket of durations. Sparse, because most series have few. */
  durations: Map<number, number>;
}

/** How an invocation ended. */
export interface Ended {
  errorCode: string | undefined;
  destinationStatus: number | undefined;
}

export function emptyCounts(): Counts {
  return { requests: 0, destinationErrors: 0, errors: new Map(), durations: new Map() };
}

/** `bucket` is made by {@link bucketOf}, once for all counts of an invocation. */
export function countInvocation(counts: Counts, { errorCode, destinationStatus = 0 }: Ended, bucket: number): void {
  counts.requests++;
  if (destinationStatus >= 500) counts.destinationErrors++;
  addTo(counts.durations, bucket, 1);
  if (errorCode !== undefined) addTo(counts.errors, errorCode, 1);
}

export function addCounts(sum: Counts, added: Counts): void {
  sum.requests += added.requests;
  sum.destinationErrors += added.destinationErrors;
  for (const [cause, count] of added.errors) addTo(sum.errors, cause, count);
  for (const [bucket, count] of added.durations) addTo(sum.durations, bucket, count);
}

/** What `all` counts beyond `part`. No number is below 0, although neither may contain the other. */
export function countsBeyond(all: Counts, part: Counts): Counts {
  const beyond = emptyCounts();
  beyond.requests = Math.max(0, all.requests - part.requests);
  beyond.destinationErrors = Math.max(0, all.destinationErrors - part.destinationErrors);
  subtract(all.errors, part.errors, beyond.errors);
  subtract(all.durations, part.durations, beyond.durations);
  return beyond;
}

function subtract<K>(all: ReadonlyMap<K, number>, part: ReadonlyMap<K, number>, beyond: Map<K, number>): void {
  for (const [key, count] of all) {
    const left = count - (part.get(key) ?? 0);
    if (left > 0) beyond.set(key, left);
  }
}

function addTo<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Eight buckets for each doubling, so that a percentile is at most 5 % from the true one. */
const perDoubling = 8;
const shortestMs = 0.1;
/** The last bucket is for an hour and more. */
const lastBucket = 201;

export function bucketOf(ms: number): number {
  return Math.min(lastBucket, Math.round(perDoubling * Math.log2(Math.max(ms, shortestMs) / shortestMs)));
}

function durationOf(bucket: number): number {
  return Number((shortestMs * 2 ** (bucket / perDoubling)).toPrecision(3));
}

type Value = number | null;

/** Each list has one entry for each step, oldest first. A step without invocations has no percentiles. */
export interface Figures {
  requests: Value[];
  errors: Record<string, Value[]>;
  destination_errors: Value[];
  latency_ms: { p50: Value[]; p99: Value[] };
}

/** A step that is undefined is unknown: its entries are null. */
export function figuresOf(steps: readonly (Counts | undefined)[]): Figures {
  const causes = [...new Set(steps.flatMap((step) => [...(step?.errors.keys() ?? [])]))].sort();
  const each = (read: (counts: Counts) => Value) => steps.map((step) => (step ? read(step) : null));
  return {
    requests: each(({ requests }) => requests),
    errors: Object.fromEntries(causes.map((cause) => [cause, each(({ errors }) => errors.get(cause) ?? 0)])),
    destination_errors: each(({ destinationErrors }) => destinationErrors),
    latency_ms: { p50: each((counts) => percentile(counts, 0.5)), p99: each((counts) => percentile(counts, 0.99)) },
  };
}

function percentile({ durations }: Counts, share: number): number | null {
  const buckets = [...durations].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let passed = 0;
  for (const [bucket, count] of buckets) {
    passed += count;
    if (passed >= share * total) return durationOf(bucket);
  }
  return null;
}

/** The fields of a Redis hash, each followed by its count. */
export function toFields({ requests, destinationErrors, errors, durations }: Counts): (string | number)[] {
  const fields: (string | number)[] = ['requests', requests];
  if (destinationErrors > 0) fields.push('destination_errors', destinationErrors);
  for (const [cause, count] of errors) fields.push(`error:${cause}`, count);
  for (const [bucket, count] of durations) fields.push(`ms:${bucket}`, count);
  return fields;
}

export function fromFields(fields: Readonly<Record<string, string>>): Counts {
  const counts = emptyCounts();
  for (const [field, text] of Object.entries(fields)) {
    const [kind, name = ''] = field.split(':');
    const count = Number(text);
    if (kind === 'requests') counts.requests = count;
    else if (kind === 'destination_errors') counts.destinationErrors = count;
    else if (kind === 'error') counts.errors.set(name, count);
    else if (kind === 'ms') counts.durations.set(Number(name), count);
  }
  return counts;
}
