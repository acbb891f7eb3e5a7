import { ServiceError } from '@sluice/problems';

/** Limits of what one request may bring, as errors and metrics name them. Of `field_errors` the rest is cut. */
const requestLimits = [
  'body_size',
  'content_codings',
  'expressions',
  'field_errors',
  'filters',
  'form_pairs',
  'headers',
  'loop',
  'opened_data',
  'result_size',
] as const;
type RequestLimit = (typeof requestLimits)[number];

/** Counts what is refused because of the request itself, or of what its transforms and destination make of it. */
export class Refusals {
  readonly counts: Record<RequestLimit, number>;

  constructor() {
    this.counts = Object.fromEntries(requestLimits.map((limit) => [limit, 0])) as Record<RequestLimit, number>;
  }

  /** Counts the error if a limit is its reason. */
  note(error: unknown): void {
    const limit = error instanceof ServiceError ? error.limit : undefined;
    if (limit !== undefined && isRequestLimit(limit)) this.counts[limit] += 1;
  }
}

function isRequestLimit(limit: string): limit is RequestLimit {
  return requestLimits.some((known) => known === limit);
}
