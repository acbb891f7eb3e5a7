export type { BodyBytes, Leaver, Reservation, ReservationOptions } from './body-bytes.ts';
export { type ArrivingBody, growAsItArrives } from './grow-as-it-arrives.ts';
export { measureBodyBytes } from './metrics.ts';
export { apiPart, bodyBytesFrom } from './open-body-bytes.ts';
export { parsedBytes } from './parsed-bytes.ts';
export type { BodyDirection } from './room.ts';
export { bodyBytesSettings } from './settings.ts';
