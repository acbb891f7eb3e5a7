export { afterStatement } from './after-statement.ts';
export { type Answer, type CallOptions, call, sendRequest } from './call.ts';
export { callByHost } from './call-by-host.ts';
export { type Issued, issueCertificate } from './certificates.ts';
export { type ChaosProxy, type Direction, directions, openRedisDoor, startChaosProxy } from './chaos/chaos-proxy.ts';
export { connectPostgres } from './connect-postgres.ts';
export {
  type CountingDestination,
  type Destination,
  startCountingDestination,
  startDestination,
} from './destination.ts';
export { eventually, eventuallyEqual, waitUntil } from './eventually.ts';
export { filled, openFilledDatabase, vacuumWhole } from './fill-tables.ts';
export { type HttpAnswer, type HttpClient, type HttpRequest, openHttpClient } from './http-client.ts';
export { insertTestSession } from './insert-session.ts';
export { insertTestMember, insertTestSignIn } from './insert-sign-in.ts';
export { openTestCoherence } from './open-coherence.ts';
export { programEnvironment } from './program-environment.ts';
export { queryOnce } from './query-once.ts';
export { countBuffers, countRowsRead, findFullScans, findIndexes, recordStatements } from './query-plans.ts';
export { type Random, randomSeed, readSeed, seededRandom } from './random.ts';
export { serveBytes, serveHttp } from './serve.ts';
export { fullRunOnly, isFullRun, slow } from './slow.ts';
export { randomSecrets, startTestService, type TestSecrets, type TestServiceOptions } from './start-service.ts';
export { openStoresFolder, openTemporaryFolder } from './temporary-folder.ts';
export { openTenantDoor, type TenantDoor } from './tenant-door.ts';
export { openEmptyDatabase, openTestDatabase, type TestDatabase } from './test-database.ts';
export { testRedisUrl } from './test-redis.ts';
export { type ExportedSpan, startTraceCollector, type TraceCollector } from './trace-collector.ts';
export { type PoolerOptions, startTransactionPooler } from './transaction-pooler.ts';
export { untilLockIsAwaited } from './until-lock-is-awaited.ts';
export { useChildren } from './use-children.ts';
export { useStack } from './use-stack.ts';
export { oncePerWorker, workerStack } from './worker-stack.ts';
