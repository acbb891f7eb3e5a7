import type { IncomingMessage } from 'node:http';

/** Undefined for a repeated header, because readers could take different values. `name` in any case. */
export function singleHeader({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name.toLowerCase()];
  return values?.length === 1 ? values[0] : undefined;
}
