export {
  bytesOf,
  createPepper,
  credentialSettings,
  generateApiKey,
  generateNonce,
  generateProxyKey,
  hashKey,
  hashKeyText,
  isWellFormedApiKey,
  isWellFormedProxyKey,
  keyEnvironmentSettings,
} from './api-key.ts';
export { type AuthenticationOptions, authenticate, unauthenticated } from './authenticate.ts';
export { type Callers, cacheCallers, readCallers, watchCaller } from './callers.ts';
export { deleteApplication } from './delete-application.ts';
export { type Caller, findCaller, findCallerById, keyNotExpired, notExpired } from './find-caller.ts';
export { findSession } from './find-session.ts';
