export {
  measureLocalDecisions,
  openSharedLimits,
  type SharedLimits,
  sharedLimitSettings,
} from './open-shared-limits.ts';
export type { SharedLimit } from './shared-limit.ts';
