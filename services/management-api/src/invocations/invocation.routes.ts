import { holds } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { readCursor, Streamed, signCursor, type TypeOf, toCursorPage } from '@sluice/http-api';
import type { FedInvocation, InvocationRecord } from '@sluice/invocation-feed';
import { ServiceError } from '@sluice/problems';
import { operation } from '../context.ts';
import { invocationEvents, invocationPage, listInvocationsQuery } from './invocation.schema.ts';
import { toEvents } from './invocation-events.ts';

export type InvocationFilter = Omit<TypeOf<typeof listInvocationsQuery>, 'start' | 'size'>;

export const listInvocations = operation({
  id: 'listInvocations',
  tag: 'Invocations',
  summary: 'List the last invocations of Proxies, newest first',
  description: [
    'The last 1,000 of the last fifteen minutes, to look at and not to account by: gateways hand them on four times a second, and of more than 1,000 between two times the newest. `skipped` says how many are missing. While Redis is away the answer is 503. The audit log is what is complete.',
    'With `Accept: text/event-stream` the answer begins with the newest `size`, oldest first, and goes on: `event: invocation` with an Invocation as JSON in `data`, and `event: skipped` with `{ "skipped": n }`. It is reset when the key, its Application or its permission goes, and after an hour. A Tenant has at most ten exports and event streams at a time.',
  ].join('\n\n'),
  method: 'get',
  path: '/invocations',
  permission: 'log:read',
  query: listInvocationsQuery,
  produces: ['application/json', 'text/event-stream'],
  events: invocationEvents,
  response: { 200: invocationPage },
  async handle({ query: { start, size, ...filter }, caller, accepted, look }, { feed, pepper }) {
    const { tenantId } = caller;
    const isWanted = ({ record }: FedInvocation) => matches(record, filter);
    const present = ({ record }: FedInvocation) => presentTo(caller, record);
    if (accepted === 'text/event-stream') {
      return new Streamed(toEvents(feed, { tenantId, size, isWanted, present }));
    }
    const scope = { caller, operation: 'listInvocations', filter };
    const [before] = start === undefined ? [] : readCursor(pepper, scope, start);
    const { invocations, skipped } = await feed.read(tenantId, new Date()).catch((error: unknown) => {
      throw new ServiceError(
        'unavailable',
        'The latest invocations are not available, because Redis does not answer; try again',
        {
          retryAfterSeconds: 2,
          cause: error,
        },
      );
    });
    await look(); // because rights may have ended while Redis answered
    const newestFirst = invocations.filter(isWanted).reverse();
    const from = before === undefined ? 0 : newestFirst.findIndex(({ id }) => isOlder(id, before));
    const rest = from === -1 ? [] : newestFirst.slice(from);
    const data = rest.slice(0, size);
    const next = rest.length > size ? signCursor(pepper, scope, [data.at(-1)?.id ?? '']) : undefined;
    return { ...toCursorPage(data.map(present), size, next), skipped };
  },
});

/** Ids of a Redis stream: milliseconds and a number within them. */
function isOlder(id: string, other: string): boolean {
  const [[ms = 0, n = 0], [otherMs = 0, otherN = 0]] = [id.split('-').map(Number), other.split('-').map(Number)];
  return ms < otherMs || (ms === otherMs && n < otherN);
}

function matches(record: InvocationRecord, filter: InvocationFilter): boolean {
  const { proxy_id, application_id, status, trace_id } = filter;
  return (
    (proxy_id === undefined || record.proxy_id === proxy_id) &&
    (application_id === undefined || record.application_id === application_id) &&
    (status === undefined || record.status === status) &&
    (trace_id === undefined || record.trace_id === trace_id)
  );
}

function presentTo(caller: Caller, { console, ...record }: InvocationRecord): InvocationRecord {
  return console && holds(caller, 'proxy:update') ? { ...record, console } : record;
}
