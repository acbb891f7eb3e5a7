export { checkTimeoutMs, openAdminServer, Readiness, type ReadinessCheck } from './admin.ts';
export {
  type Config,
  ConfigError,
  type ConfigSchema,
  describeConfig,
  readConfig,
  type SettingCondition,
  type SettingSchema,
  takesFile,
} from './config.ts';
export { inBatches, requestsInBatches } from './in-batches.ts';
export { listen } from './listen.ts';
export { type LineMembers, type Logger, lineWriter, serviceLogger } from './logger.ts';
export { lowerLibuvThreads } from './lower-helpers.ts';
export { memoryLimit } from './memory-limit.ts';
export { type DurationHistogram, durationHistogram } from './metrics/duration-histogram.ts';
export { exportCounter, exportGauge } from './metrics/measured.ts';
export { statusClasses, statusClassIndex } from './metrics/status-classes.ts';
export { measureDisclosures, measureKeyUses, measurePool } from './metrics/store-metrics.ts';
export type { Connections } from './requests/connections.ts';
export { GatheredRequest } from './requests/gathered-request.ts';
export { faultInHead, isEndCertain, valuesOf } from './requests/head-fault.ts';
export { createOrderedServer, type Refusals } from './requests/ordered-server.ts';
export { type RequestObserver, type RequestOutcome, requestObserver } from './requests/request-observer.ts';
export { pathOfTarget, targetFault } from './requests/request-target.ts';
export { leastBytesAlone, SmallChunks } from './requests/small-chunks.ts';
export { type Runtime, runService, type Service, type ServiceDefinition, type Start } from './run-service.ts';
export { baseUrlSetting, httpSettings, serviceSettings } from './settings.ts';
export { errorCodeOf, type SpanFacts, toAttributes } from './tracing/span-facts.ts';
export { traceSettings } from './tracing/trace-settings.ts';
export type { FinishedSpan, OpenSpan, SpanOptions, Tracing, TracingOptions } from './tracing/tracing.ts';
export { type Pieces, WorkPieces } from './work-pieces.ts';
