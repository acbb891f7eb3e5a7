import type { IncomingMessage } from 'node:http';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { readTraceId, ServiceError } from '@sluice/problems';
import { faultInHead, newWorkPieces, pathOfTarget, targetFault, type WorkPieces } from '@sluice/service-runtime';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { accessLog, outcomeOf } from './access-log.ts';
import { refuseCaller, requireSame } from './check-caller.ts';
import { checkText } from './check-text.ts';
import { openClientAddresses } from './client-address.ts';
import { allowBrowsers } from './cors.ts';
import { type IdempotencyStore, type KeepReply, readIdempotencyKey } from './idempotency.ts';
import {
  type Asking,
  type Confirmation,
  Confirmed,
  type Operation,
  onlyReads,
  Reply,
  type SettleAnswer,
  Streamed,
  takesIdempotencyKey,
} from './operation.ts';
import { type PublicAnswer, servePublicAnswers } from './public-answers.ts';
import { type PublicFile, servePublicFiles } from './public-files.ts';
import type { JsonBody } from './read-body.ts';
import { readCheckedBody } from './read-checked-body.ts';
import { readQuery } from './read-query.ts';
import { RequestMemory, type RequestMemoryOptions } from './request-memory.ts';
import type { RequestObserver } from './request-observer.ts';
import { sendProblem } from './send-problem.ts';
import { sendStream } from './send-stream.ts';
import type { Streams } from './streams.ts';
import { type Check, compileBodyCheck, compileQueryCheck, refuse } from './validate.ts';

const mostHeaders = 100;
const noBody: JsonBody = { json: undefined, sizeBytes: 0 };

export interface ApiOptions<C> extends RequestMemoryOptions {
  operations: readonly Operation<C>[];
  context: C;
  /** With `tx` by that connection, past all caches. @throws {ServiceError} `unauthenticated` for a key that is refused. */
  authenticate(key: string | undefined, tx?: Queryable): Caller | Promise<Caller>;
  /** If so, a caller is looked at again before the answer of each operation that only reads; otherwise that is a query. */
  areCallersCached?: boolean;
  headerPrefix: string;
  /** Origins whose pages may call operations with `cors`, as in the setting; default none. */
  corsOrigins?: string;
  /** The client's address; default: the peer of the connection. */
  addressOf?: (request: IncomingMessage) => string;
  log: Logger;
  /** Without it idempotency keys are ignored. */
  idempotency?: IdempotencyStore;
  publicFiles?: readonly PublicFile[];
  publicAnswers?: readonly PublicAnswer[];
  observer?: RequestObserver;
  streams?: Streams;
}

export function createApi<C>(options: ApiOptions<C>): Express {
  const app = express();
  const passes = newWorkPieces();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', false)
    .enable('strict routing')
    .enable('case sensitive routing');
  const traceHeader = `${options.headerPrefix}-TRACE-ID`;
  app.use((request, response, next) => {
    const observed = options.observer?.begin(request);
    const traceId = readTraceId(request.headers[traceHeader.toLowerCase()], observed?.traceId);
    response.locals.traceId = traceId;
    response.locals.spanTraceId = observed?.traceId;
    response.setHeader(traceHeader, traceId).setHeader('Cache-Control', 'no-store');
    response.on('close', () => observed?.end(outcomeOf(request, response)));
    if (request.rawHeaders.length > 2 * mostHeaders) {
      throw new ServiceError('headers_too_large', `A request may have at most ${mostHeaders} headers`, {
        limit: 'headers',
      });
    }
    request.url = readTarget(request);
    if (observed) observed.run(next);
    else next();
  });
  app.use(accessLog(options.log));
  servePublicFiles(app, options.publicFiles ?? []);
  app.use(dropTrailingSlash);
  servePublicAnswers(app, options.publicAnswers ?? []);
  for (const operation of options.operations) {
    if (operation.cors)
      allowBrowsers(app, operation, { headerPrefix: options.headerPrefix, origins: options.corsOrigins ?? '' });
    app[operation.method](operation.path, answer(operation, options, passes));
  }
  for (const [path, methods] of methodsByPath(options.operations)) {
    app.all(path, (_request, response) => {
      response.setHeader('Allow', methods.join(', '));
      throw new ServiceError('method_not_allowed', `This path accepts only ${methods.join(', ')}`);
    });
  }
  app.use((request: Request) => {
    throw new ServiceError('not_found', `There is nothing at ${request.path.slice(0, 200)}`);
  });
  app.use(sendProblem(options.log));
  return app;
}

/** @throws {ServiceError} 400 and 417 for heads and targets that readers could interpret differently. */
function readTarget(request: IncomingMessage): string {
  const fault = faultInHead(request);
  if (fault) throw new ServiceError(fault.code, fault.detail);
  const path = pathOfTarget(request.url ?? '', request.headers.host);
  if (path === undefined) throw new ServiceError('bad_request', targetFault);
  return path;
}

/** `/applications/` means `/applications`, because many published clients send it; `/applications//` is unknown. */
function dropTrailingSlash(request: Request, _response: Response, next: NextFunction): void {
  request.url = request.url.replace(/^([^?]*[^/?])\/(?=$|\?)/, '$1');
  next();
}

/** The order of checks is 401, 403, 415, 400, and then the handler's 404, 409 and 422. */
function answer<C>(operation: Operation<C>, options: ApiOptions<C>, passes: WorkPieces) {
  const { headerPrefix, addressOf = openClientAddresses() } = options;
  const keyHeader = `${headerPrefix}-API-KEY`.toLowerCase();
  const checks = compileChecks(operation);
  return async (request: Request, response: Response): Promise<void> => {
    const accept = (caller: Caller): Caller => {
      response.locals.tenantId = caller.tenantId;
      refuseCaller(operation, caller);
      return caller;
    };
    const authorize = (tx?: Queryable) => {
      const found = options.authenticate(singleHeader(request, keyHeader), tx);
      return found instanceof Promise ? found.then(accept) : accept(found);
    };
    const caller = await authorize();
    const memory = new RequestMemory(options, caller.tenantId, response);
    try {
      await answerCaller(request, response, { caller, authorize, memory });
    } finally {
      memory.end();
    }
  };

  async function answerCaller(request: Request, response: Response, { caller: first, authorize, memory }: Admitted) {
    const { traceId } = response.locals;
    const accepted = mediaTypeOf(request, operation);
    const read = operation.body
      ? await readCheckedBody(request, operation, { check: checks.body, memory, passes, tenantId: first.tenantId })
      : noBody;
    const { json: body, sizeBytes: bodyBytes } = read;
    // The key may have been revoked while the body came, or waited for room.
    const caller = operation.body ? await authorize() : first;
    const params = { ...request.params };
    checks.params(params);
    const query = operation.query ? readQuery(request.url, operation.query) : {};
    refuse(checkText(query));
    checks.query(query);
    const checkCallerAgain = (tx?: Queryable) => requireSame(caller, authorize(tx));
    const hold = (bytes: number) => memory.hold(bytes)?.then(() => checkCallerAgain());
    const asking = { caller, traceId, hold, checkCallerAgain };
    const work = async (keep?: KeepReply) => {
      const settle: SettleAnswer | undefined =
        keep && ((tx, result, change) => keep(tx, toReply(operation, result, headerPrefix), change));
      const address = () => addressOf(request);
      const whenLeft = (act: () => void) => {
        if (response.destroyed) act();
        else response.once('close', act);
      };
      const known = { params, query, body, bodyBytes, accepted, address };
      const input = { ...known, settle, whenLeft, ...asking };
      return toReply(operation, await operation.handle(input as never, options.context), headerPrefix);
    };
    const reply = await once(request, { operation, asking, body, options }, work);
    const looking = options.areCallersCached && onlyReads(operation) ? checkCallerAgain() : undefined;
    if (looking) await looking;
    if (!(reply.body instanceof Streamed)) return send(response, reply, { mediaType: accepted, memory });
    const { streams } = options;
    if (!streams) throw new Error('A service whose operations stream opens streams');
    const headers = { ...reply.headers, 'Content-Type': `${accepted}; charset=utf-8`, Vary: 'Accept' };
    await sendStream(request, response, reply.body.pieces, {
      streams,
      caller,
      authorize: async () => authorize(),
      status: reply.status,
      headers,
    });
  }
}

interface Admitted {
  caller: Caller;
  /** @throws {ServiceError} when the caller may no longer call the operation. */
  authorize(tx?: Queryable): Caller | Promise<Caller>;
  memory: RequestMemory;
}

function mediaTypeOf<C>(request: Request, { produces = 'application/json' }: Operation<C>): string {
  if (typeof produces === 'string') return produces;
  return request.accepts([...produces]) || (produces[0] ?? 'application/json');
}

interface OnceOptions<C> {
  operation: Operation<C>;
  asking: Asking;
  body: unknown;
  options: ApiOptions<C>;
}

function once<C>(
  request: Request,
  { operation, asking, body, options }: OnceOptions<C>,
  work: (keep?: KeepReply) => Promise<Reply>,
) {
  const { idempotency, context, headerPrefix } = options;
  if (!idempotency || !takesIdempotencyKey(operation)) return work();
  const key = readIdempotencyKey(request, `${headerPrefix}-IDEMPOTENCY-KEY`);
  if (key === undefined) return work();
  const onReplay = async (kept: Reply, confirmation?: Confirmation) => {
    const reply = confirmation ? withConfirmation(kept, confirmation, headerPrefix) : kept;
    const body = operation.replay ? await operation.replay(reply.body, context, asking) : reply.body;
    await checkCallerAgain();
    return new Reply(reply.status, body, reply.headers);
  };
  const toKeep = (reply: Reply) =>
    operation.keep ? new Reply(reply.status, operation.keep(reply.body), reply.headers) : reply;
  const { caller, hold, checkCallerAgain } = asking;
  const { method } = operation;
  return idempotency.run({ caller, method, path: request.path, key, body, hold, toKeep, onReplay }, work);
}

function compileChecks<C>({ params, query, body }: Operation<C>): Record<'params' | 'query' | 'body', Check> {
  const accept: Check = () => {};
  return {
    params: params ? compileQueryCheck(params) : accept,
    query: query ? compileQueryCheck(query) : accept,
    body: body ? compileBodyCheck(body) : accept,
  };
}

/** Undefined for a header that is sent twice, because readers could take different values. */
function singleHeader(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 ? values[0] : undefined;
}

function toReply<C>(operation: Operation<C>, result: unknown, headerPrefix: string): Reply {
  if (result instanceof Confirmed) {
    return withConfirmation(toReply(operation, result.result, headerPrefix), result.confirmation, headerPrefix);
  }
  return result instanceof Reply ? result : new Reply(Number(Object.keys(operation.response)[0]), result);
}

function withConfirmation(reply: Reply, { changeId, holders, waitedMs }: Confirmation, headerPrefix: string): Reply {
  const confirmation = `change=${changeId}, holders=${holders}, waited_ms=${waitedMs}`;
  return new Reply(reply.status, reply.body, { ...reply.headers, [`${headerPrefix}-REVOCATION`]: confirmation });
}

/** Uses node:http, because express's own `send` costs a tenth of a short request. */
function send(
  response: Response,
  { status, headers, body }: Reply,
  { mediaType, memory }: { mediaType: string; memory: RequestMemory },
): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = mediaType === 'application/json' ? JSON.stringify(body) : String(body);
  const size = Buffer.byteLength(text);
  const framing = { 'Content-Type': `${mediaType}; charset=utf-8`, 'Content-Length': size };
  memory.send(size);
  response.writeHead(status, { ...headers, ...framing }).end(text);
}

/** Adds HEAD to GET, because Express answers it. */
function methodsByPath<C>(operations: readonly Operation<C>[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of operations) {
    const more = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methods.set(path, [...(methods.get(path) ?? []), ...more]);
  }
  return methods;
}
