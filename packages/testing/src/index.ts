export { type Answer, type CallOptions, call } from './call.ts';
export { eventually } from './eventually.ts';
export { type FilledTable, filled, fillTables } from './fill-tables.ts';
export { findFullScans, findIndexes, recordStatements } from './query-plans.ts';
export { openRedisDoor, type RedisDoor } from './redis-door.ts';
export { createTestSecrets, startTestService, type TestSecrets, type TestServiceOptions } from './start-service.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { testRedisUrl } from './test-redis.ts';
export { useStack } from './use-stack.ts';
