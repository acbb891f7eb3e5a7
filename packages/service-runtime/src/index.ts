export { openAdminServer, Readiness, type ReadinessCheck } from './admin.ts';
export {
  type Config,
  ConfigError,
  type ConfigSchema,
  describeConfig,
  readConfig,
  type SettingCondition,
  type SettingSchema,
} from './config.ts';
export { listen } from './listen.ts';
export { createLogger, type Logger } from './logger.ts';
export { connectRedis } from './redis.ts';
export { type Runtime, runService, type Service, type ServiceDefinition, type Start } from './run-service.ts';
export { httpSettings, redisSettings, serviceSettings } from './settings.ts';
