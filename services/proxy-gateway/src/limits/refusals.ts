import { asServiceError } from '@sluice/problems';

/** Limits on one request, by their names in errors and metrics. `field_errors` only shortens the list of errors. */
const requestLimits = [
  'body_size',
  'content_codings',
  'database_connections',
  'disclosures_waiting',
  'expressions',
  'field_errors',
  'field_size',
  'filters',
  'form_pairs',
  'form_parts',
  'headers',
  'loop',
  'opened_data',
  'reactor_results',
  'reactor_runs',
  'result_size',
  'row_changes',
  'tokens',
] as const;
type RequestLimit = (typeof requestLimits)[number];

export class Refusals {
  readonly counts: Record<RequestLimit, number>;

  constructor() {
    this.counts = Object.fromEntries(requestLimits.map((limit) => [limit, 0])) as Record<RequestLimit, number>;
  }

  note(error: unknown): void {
    const { limit } = asServiceError(error);
    if (limit !== undefined) this.noteLimit(limit);
  }

  noteLimit(limit: string): void {
    if (isRequestLimit(limit)) this.counts[limit] += 1;
  }
}

function isRequestLimit(limit: string): limit is RequestLimit {
  return requestLimits.some((known) => known === limit);
}
