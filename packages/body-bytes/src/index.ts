export type { BodyBytes, Reservation } from './body-bytes.ts';
export { measureBodyBytes } from './metrics.ts';
export { apiPart, openBodyBytes } from './open-body-bytes.ts';
export { parsedBytes } from './parsed-bytes.ts';
export type { BodyDirection } from './room.ts';
export { bodyBytesSettings } from './settings.ts';
