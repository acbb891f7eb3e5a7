export type { Confirmation } from './barrier.ts';
export { type Bus, openBus } from './bus.ts';
export { absent, type Change, type RecordedChange, tagOf } from './change.ts';
export { type ChangeWriter, type ChangeWriterOptions, type InPart, openChangeWriter } from './change-writer.ts';
export { type Coherence, type CoherenceOptions, openCoherence } from './coherence.ts';
export { type CoherentCaches, type CoherentCachesOptions, openCoherentCaches } from './coherent-caches.ts';
export { type AtOnceOrLater, type CacheLimits, GuardedCache, type Lease, type Loaded } from './guarded-cache.ts';
export { relayForgottenChanges } from './relay-changes.ts';
export { cacheLimitsFrom, cacheSettings } from './settings.ts';
