export { answerClientError, answerConnect } from './client-error.ts';
export { endRefusal } from './end-refusal.ts';
export { type ErrorCode, errorCodes } from './error-codes.ts';
export { faultInWords, type SchemaFault } from './fault-in-words.ts';
export { type KnownMembers, nameBudget, nearMisses, nearName } from './near-name.ts';
export { asServiceError, helpLink, type Problem, problemContentType, toProblem } from './problem.ts';
export { problemRefusal, proxyRefusal, type Refusal, retryHeaderNames, toErrorMember } from './refusal.ts';
export {
  endedEarly,
  type FieldErrors,
  ServiceError,
  type ServiceErrorOptions,
  validationFailed,
} from './service-error.ts';
export { readTraceId } from './trace-id.ts';
