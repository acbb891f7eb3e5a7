export { type GoodLoad, quantile } from './good-load.ts';
export { hostileModule, hostilePrograms } from './programs.ts';
export { type MixedLoad, type MixedLoadOptions, runMixedLoad } from './run-mixed-load.ts';
export { type GoodTraffic, type HostileReport, type HostileRow, runHostilePrograms } from './run-programs.ts';
