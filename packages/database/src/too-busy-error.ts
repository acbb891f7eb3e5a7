/** Which limit was reached, by its name in metrics. */
type BusyLimit = 'database_connections' | 'row_changes';

/** `@sluice/problems` knows the code, and answers 503 with this message and `Retry-After`. */
export class TooBusyError extends Error {
  readonly code = 'ETOOBUSY';
  readonly limit: BusyLimit;

  constructor(limit: BusyLimit, message: string) {
    super(message);
    this.name = 'TooBusyError';
    this.limit = limit;
  }
}
