import type { IncomingMessage, RequestListener } from 'node:http';
import { authenticate, readCallers } from '@sluice/credentials';
import { serveByHost } from '@sluice/hosts';
import { expressApi, operationName, problemCodes, singleHeader } from '@sluice/http-api';
import { idempotencyStore } from '@sluice/http-api/idempotency';
import { type Runtime, requestObserver } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { react } from './react.routes.ts';
import { ReactCalls } from './react-calls.ts';
import { runOperations } from './runs/run.routes.ts';

export const operations = [react, ...runOperations];

/** Whether a request is for the API below and not an invocation. At the host of a route every path is the route's. */
export function isForReactors(request: IncomingMessage, { hostOf }: Pick<Context, 'hostOf'>): boolean {
  return request.url?.startsWith('/reactors/') === true && hostOf(request).kind !== 'routes';
}

export function reactorAppOf(
  context: Context,
  { metrics, tracing }: Pick<Runtime, 'metrics' | 'tracing'>,
): RequestListener {
  const calls = new ReactCalls(context);
  const { db, vault, caches, callers, pepper, keyUses, headerNames, hostOf, bodyBytes, refusals, log } = context;
  const headerName = `${headerNames.prefix}-API-KEY`;
  const presenting = { pepper, keyUses, headerName };
  const options = {
    context,
    headerPrefix: headerNames.prefix,
    log,
    caches,
    bodyBytes,
    idempotency: idempotencyStore({
      db,
      vault,
      pepper,
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    authenticate: async (request, tx) => {
      const asked = { callers: tx ? readCallers(tx) : callers, ...presenting };
      const caller = await authenticate(singleHeader(request, headerName), asked);
      calls.noteCaller(caller);
      return caller;
    },
    observer: calls.observe(
      requestObserver({
        operations: operations.map(operationName),
        errorCodes: problemCodes,
        limits: (limit) => refusals.noteLimit(limit),
        metrics,
        tracing,
      }),
    ),
  } satisfies Omit<Parameters<typeof expressApi<Context>>[0], 'operations'>;
  return serveByHost(hostOf, {
    base: expressApi({ ...options, operations, refusesServiceWorkers: true, linksHelp: true }),
    none: expressApi({ ...options, operations: [] }),
  });
}
