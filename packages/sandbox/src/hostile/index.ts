export { hostilePrograms } from './programs.ts';
export { type GoodTraffic, type HostileReport, type HostileRow, runHostilePrograms } from './run-programs.ts';
