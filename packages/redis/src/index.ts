export { connectRedis } from './connect-redis.ts';
export { openRedis, openRedisNode, type RedisClient, type RedisClientOptions } from './open-redis.ts';
export { redisSettings } from './settings.ts';
