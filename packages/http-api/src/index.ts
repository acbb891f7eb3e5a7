export { type ApiOptions, createApi } from './create-api.ts';
export type { IdempotencyStore, IdempotentRequest } from './idempotency.ts';
export { createHttpServer } from './http-server.ts';
export {
  created,
  type Operation,
  type OperationInput,
  type OperationRecord,
  operationsOf,
  Reply,
} from './operation.ts';
export { type Page, type PageRequest, pageOf, pageQuery, toPage } from './pagination.ts';
export type { TypeOf } from './schema-type.ts';
export { compileBodyCheck, parseDate, uuidPattern } from './validate.ts';
