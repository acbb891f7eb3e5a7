export { type Charset, charsetNamed, encodeForm, isMultiByte } from './charset/charset.ts';
export { charsetOf, startBytes } from './charset/charset-of.ts';
export { CustomHttpResponse } from './custom-http-response.ts';
export { reactorDeclarations, transformDeclarations } from './declarations.ts';
export { TransformStopped, TransformThrew, UnreadableBody } from './failure.ts';
export type { FetchAnswer, FetchHost, FetchRequest } from './fetches.ts';
export { LargeHeaps } from './large-heaps.ts';
export { defaultTransformLimits, type TransformLimits } from './limits.ts';
export {
  openTransformPool,
  type TransformPool,
  type TransformPoolOptions,
  type TransformPoolState,
} from './pool.ts';
export { nothingHidden, type Redaction, runCode } from './run-code.ts';
export { transformLimitsFrom, transformSettings } from './settings.ts';
export { defaultSuspension, type SuspensionOptions, TransformSuspended } from './suspension.ts';
export type { MessageLimits, TransformMessage, WrittenMessage } from './thread/message/transform-message.ts';
export type {
  CompileError,
  ConsoleLine,
  TransformResult,
  TransformTask,
  TransformUsage,
} from './transform-task.ts';
export {
  type ReactorTrial,
  type ReactorTrialTask,
  type TransformTrial,
  type TrialError,
  type TrialTask,
  tryReactor,
  tryTransform,
} from './trial.ts';
export { WarmMemory } from './warm-memory.ts';
