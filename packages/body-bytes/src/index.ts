export type { BodyBytes, Reservation } from './body-bytes.ts';
export { type ArrivingBody, growAsItArrives } from './grow-as-it-arrives.ts';
export type { Leaver, MemoryPart } from './memory-part.ts';
export { measureBodyBytes } from './metrics.ts';
export { parsedBytes } from './parsed-bytes.ts';
export type { BodyDirection } from './room.ts';
export { apiPart, bodyBytesFrom, bodyBytesSettings } from './settings.ts';
