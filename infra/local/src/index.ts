export { freePort } from '@sluice/service-runtime/free-port';
export { libraryPath, type UnpackOptions, unpackDebianPackages } from './debian/debian-packages.ts';
export { findProgram, type Program } from './debian/find-program.ts';
export { LaunchError } from './launch-error.ts';
export type { Credentials } from './stack/credentials.ts';
export { allocatorEnvironment, nodeOptions } from './stack/services.ts';
export { type Stack, type StackOptions, startStack } from './stack/stack.ts';
export { type Stores, type StoresOptions, startStores } from './stores/stores.ts';
