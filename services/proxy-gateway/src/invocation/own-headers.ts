import type { Context } from '../context.ts';
import type { HeaderList } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';

export function ownHeaders(
  { traceId, clock }: Invocation,
  destinationStatus: number | undefined,
  { headerNames: names, showsTiming }: Context,
): HeaderList {
  const own = [names.traceId, traceId];
  if (destinationStatus !== undefined) own.push(names.destinationStatus, `${destinationStatus}`);
  if (showsTiming) own.push('Server-Timing', clock.serverTiming());
  return own;
}
