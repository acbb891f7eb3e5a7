export type { ApiOptions } from './api-options.ts';
export { canonicalUuid } from './canonical-uuid.ts';
export { requireSame } from './check-caller.ts';
export { cookieApiPath, isOwn, refuseForeign, underCookieApi } from './cookie-api.ts';
export { cookiesNamed } from './cookies.ts';
export { cursorPageOf, cursorQuery, readCursor, signCursor, toCursorPage } from './cursor.ts';
export { changedTo } from './entity-tag.ts';
export { expressApi } from './express-api.ts';
export { forFrames } from './fields-host.ts';
export { Html, html } from './html.ts';
export { createHttpServer } from './http-server.ts';
export type { IdempotencyStore, IdempotentRequest, KeepReply } from './idempotency/idempotency-store.ts';
export { mergePatchOf, orNull } from './merge-patch.schema.ts';
export type { Access } from './openapi/access.ts';
export type { OpenApiDocument, Part, Tag } from './openapi/document.ts';
export { failuresOf } from './openapi/failures.ts';
export { withHeaderPrefix } from './openapi/header-prefix.ts';
export { type OpenApiOptions, toOpenApi } from './openapi/to-openapi.ts';
export {
  type Acting,
  type AnonymousOperation,
  type Asking,
  anonymousOperationsOf,
  type Confirmation,
  Confirmed,
  created,
  type Hold,
  JsonText,
  type OpenInput,
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
  takesIdempotencyKey,
  Unkept,
} from './operation.ts';
export { corsSettings } from './origins.ts';
export type { HtmlPage, PageAnswer, PageInput } from './pages.ts';
export { type Page, type PageRequest, pageOf, pageQuery, toPage } from './pagination.ts';
export { emailPattern, patternForms, statusPattern } from './pattern-forms.ts';
export type { PublicAnswer } from './public-answers.ts';
export type { TypeOf } from './schema-type.ts';
export { problemCodes, requestLimits } from './send-problem.ts';
export {
  giveAttemptCookie,
  giveSignInCookie,
  readAttemptCookie,
  readSignInCookie,
  takeSignInCookie,
} from './sign-in-cookie.ts';
export { singleHeader } from './single-header.ts';
export { openapiFile, pageHeaders, type StaticFile, type StaticFileType } from './static-files.ts';
export { Streams, streamSettings } from './streams.ts';
export { changeRows, transaction } from './transaction.ts';
export { bodyCheck, refuse } from './validate.ts';
