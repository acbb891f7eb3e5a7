import { originOf } from '@sluice/hosts';

/** Where browsers find the console. */
export function consoleUrlOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : originOf(host);
}
