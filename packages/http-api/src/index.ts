export {
  canonicalAddress,
  networkOf,
  openClientAddresses,
  singleAddressOf,
  trustedProxySettings,
} from './client-address.ts';
export { corsSettings } from './cors.ts';
export { type ApiOptions, createApi } from './create-api.ts';
export { cursorPageOf, cursorQuery, openCursor, sealCursor, toCursorPage } from './cursor.ts';
export { createHttpServer } from './http-server.ts';
export type { IdempotencyStore, IdempotentRequest, KeepReply } from './idempotency.ts';
export type { OpenApiDocument, Part, Tag } from './openapi/document.ts';
export { failuresOf } from './openapi/failures.ts';
export { withHeaderPrefix } from './openapi/header-prefix.ts';
export { type OpenApiOptions, toOpenApi } from './openapi/to-openapi.ts';
export {
  type Acting,
  type Asking,
  type Confirmation,
  Confirmed,
  created,
  type Hold,
  type Operation,
  type OperationFacts,
  type OperationInput,
  type OperationRecord,
  operationName,
  operationsOf,
  type PendingChange,
  Reply,
  type SettleAnswer,
  Streamed,
} from './operation.ts';
export { type Page, type PageRequest, pageOf, pageQuery, toPage } from './pagination.ts';
export type { PublicAnswer } from './public-answers.ts';
export { openApiFile, type PublicFile } from './public-files.ts';
export type { ObservedRequest, RequestObserver, RequestOutcome } from './request-observer.ts';
export type { TypeOf } from './schema-type.ts';
export { problemCodes, requestLimits } from './send-problem.ts';
export { openStreams, type Streams, streamSettings } from './streams.ts';
export { canonicalUuid, compileBodyCheck } from './validate.ts';
