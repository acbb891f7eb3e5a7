export type { CallOptions, ChangeOptions } from './call-options.ts';
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  SluiceError,
  TimeoutError,
  UnprocessableError,
  ValidationError,
} from './errors.ts';
export type { StreamEvent } from './events.ts';
export type { ProblemCode } from './generated/problems.gen.ts';
export type * from './generated/types.gen.ts';
export type { ProxyClient } from './invocation.ts';
export { JsonText } from './json-text.ts';
export { List } from './list.ts';
export type { SluiceOptions } from './settings.ts';
export { Sluice } from './sluice.ts';
