export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { testRedisUrl } from './test-redis.ts';
export { useStack } from './use-stack.ts';
