export { announceChange } from './announce.ts';
export type { Change } from './change.ts';
export { type ChangeChannel, type ChangeChannelOptions, openChangeChannel } from './change-channel.ts';
export { GuardedCache, type GuardedCacheOptions, type Loaded } from './guarded-cache.ts';
