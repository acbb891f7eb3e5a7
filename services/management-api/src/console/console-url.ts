import { originOf } from '@sluice/http-api';

/** Where browsers find the console. */
export function consoleUrlOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : originOf(host);
}
