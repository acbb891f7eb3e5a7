export {
  bytesOf,
  credentialSettings,
  generateApiKey,
  generateNonce,
  generateProxyKey,
  generateSecret,
  hashKey,
  hashKeyText,
  isSessionKey,
  isWellFormedApiKey,
  isWellFormedProxyKey,
  isWellFormedSecret,
  keyEnvironmentSettings,
  lastFourOf,
  readPepper,
} from './api-key.ts';
export { type AuthenticationOptions, authenticate, unauthenticated } from './authenticate.ts';
export { authenticateSignIn, notSignedIn, signInAuthentication } from './authenticate-sign-in.ts';
export { type Callers, cacheCallers, readCallers, watchCaller } from './callers.ts';
export { deleteApplication } from './delete-application.ts';
export { cacheEmbedders } from './embedders.ts';
export { actorTypeOf, type Caller, findCaller, findCallerById, keyNotExpired, notExpired } from './find-caller.ts';
export { findSession } from './find-session.ts';
export { type Invalidations, Judgement } from './judgement.ts';
export { KeyHashes } from './key-hashes.ts';
export { KeyUses, openKeyUses } from './key-uses.ts';
