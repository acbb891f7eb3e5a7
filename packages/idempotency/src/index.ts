export { type IdempotencyOptions, openIdempotency } from './idempotency.ts';
