// The parts of `startStack`, for whole-system tests that combine them differently.

export { freePort } from '@sluice/service-runtime/free-port';
export { openShop } from './demo/shop/shop.ts';
export { hasEnded, startLogged, stopChild, untilEnded } from './processes/child.ts';
export { parentOf } from './processes/process-identity.ts';
export { startWatchdog, type Watchdog } from './processes/watchdog.ts';
export { defaultDirectory, repositoryRoot } from './repository.ts';
export { readCredentials } from './stack/credentials.ts';
export { migrateDatabase } from './stack/migrations.ts';
export { readLedgerKey, readSecrets } from './stack/secrets.ts';
export { spawnService, untilReady } from './stack/service-process.ts';
export { findAddresses, localUrl, type ServiceName, type StackSettings, services } from './stack/services.ts';
export { onStopRequest, type StopRequest } from './stop-request.ts';
export { findRedisProgram } from './stores/redis-program.ts';
