import type { HeaderList } from '../http/message.ts';
import type { InvocationOptions } from './invocation-options.ts';

/** What we add to an answer: the trace id, the status of the destination where it gave one, the timing if it is wanted. */
export function ownHeaders(
  { context, traceId, record }: InvocationOptions,
  destinationStatus: number | undefined,
): HeaderList {
  const { headerNames: names, showsTiming } = context;
  const own = [names.traceId, traceId];
  if (destinationStatus !== undefined) own.push(names.destinationStatus, `${destinationStatus}`);
  if (showsTiming) own.push('Server-Timing', record.clock.serverTiming());
  return own;
}
