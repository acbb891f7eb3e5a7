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
  summary: 'List the latest invocations of Proxies and runs of reactors, newest first',
  description: [
    'Lists the invocations of the last 15 minutes, but at most the newest 1,000. If a gateway has more than 1,000 invocations of the Tenant within a quarter of a second, some of them are left out. `skipped` says how many. If Redis is unavailable, the response is 503. For a complete record use the audit log.',
    'A run of a reactor is listed only after it has ended. The list has calls of react and runs that react-async started. Refused calls of react and of react-async are listed, too. A cancelled run has the status 404 and the `refused_by` `cancelled`.',
    'With `Accept: text/event-stream` the response is a stream. The stream begins with the newest invocations, at most `size` of them. The oldest of them is sent first. Then the stream continues with each new invocation. There are two kinds of events. `event: invocation` has an Invocation as JSON in `data`. `event: skipped` has `{ "skipped": n }` in `data`. The connection is reset after an hour, and when the key, its Application or its permission is removed. If the Tenant already has ten open exports and event streams, the response is 429.',
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
        'The latest invocations are unavailable because Redis does not respond; try again',
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
  const { proxy_id, reactor_id, application_id, status, trace_id } = filter;
  return (
    (proxy_id === undefined || record.proxy_id === proxy_id) &&
    (reactor_id === undefined || record.reactor_id === reactor_id) &&
    (application_id === undefined || record.application_id === application_id) &&
    (status === undefined || hasStatus(record, String(status))) &&
    (trace_id === undefined || record.trace_id === trace_id)
  );
}

/** `wanted` is a status, or a class such as `5xx`. */
function hasStatus({ status }: InvocationRecord, wanted: string): boolean {
  return wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}

function presentTo(caller: Caller, { console, ...record }: InvocationRecord): InvocationRecord {
  const needed = record.reactor_id === undefined ? 'proxy:update' : 'reactor:update';
  return console && holds(caller, needed) ? { ...record, console } : record;
}
