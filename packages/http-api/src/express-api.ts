import type { IncomingMessage } from 'node:http';
import { apiPart, bodyBytesFrom } from '@sluice/body-bytes';
import { addressReader, refuseServiceWorker } from '@sluice/hosts';
import { readTraceId, ServiceError } from '@sluice/problems';
import { faultInHead, pathOfTarget, targetFault, WorkPieces } from '@sluice/service-runtime';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { accessLog, outcomeOf } from './access-log.ts';
import { answer } from './answer.ts';
import { answerAnonymous } from './answer-anonymous.ts';
import type { ApiOptions } from './api-options.ts';
import { cookieApiPath, guardCookieApi, underCookieApi } from './cookie-api.ts';
import type { Operation } from './operation.ts';
import { allowBrowsers } from './origins.ts';
import { servePages } from './pages.ts';
import { servePublicAnswers } from './public-answers.ts';
import { sendProblem } from './send-problem.ts';
import { servePageForOthers, serveStaticFiles } from './static-files.ts';

const mostHeaders = 100;
const defaultMemory = { BODY_HELD_BYTES: 0, BODY_HELD_TENANT_BYTES: 0, BODY_WAIT_MS: 20_000 };

export function expressApi<C>(options: ApiOptions<C>): Express {
  const app = express();
  const shared = { passes: new WorkPieces(), bodyBytes: options.bodyBytes ?? bodyBytesFrom(defaultMemory, apiPart) };
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
    if (options.refusesServiceWorkers) refuseServiceWorker(request);
    if (observed) observed.run(next);
    else next();
  });
  app.use(accessLog(options.log));
  serveStaticFiles(app, options.staticFiles ?? []);
  app.use(dropTrailingSlash);
  servePages(app, options.pages ?? [], options.addressOf ?? addressReader());
  const { byCookie = false, anonymousOperations: open = [] } = options;
  const operations = byCookie ? underCookieApi(options.operations) : options.operations;
  const anonymousOperations = byCookie ? underCookieApi(open) : open;
  if (byCookie) guardCookieApi(app, operations, options.headerPrefix);
  const { publicAnswers = [] } = options;
  servePublicAnswers(app, byCookie ? underCookieApi(publicAnswers) : publicAnswers);
  for (const operation of operations) {
    const { headerPrefix, corsOrigins: origins } = options;
    if (operation.cors && !byCookie && origins !== undefined) allowBrowsers(app, operation, { headerPrefix, origins });
    app[operation.method](operation.path, answer(operation, options, shared));
  }
  for (const operation of anonymousOperations) {
    app[operation.method](operation.path, answerAnonymous(operation, options, shared));
  }
  for (const [path, methods] of methodsByPath([...operations, ...anonymousOperations])) {
    app.all(path, (_request, response) => {
      response.setHeader('Allow', methods.join(', '));
      throw new ServiceError('method_not_allowed', `This path accepts only ${methods.join(', ')}`);
    });
  }
  const { pageForOthers } = options;
  if (pageForOthers) servePageForOthers(app, pageForOthers.page, [cookieApiPath, ...pageForOthers.except]);
  app.use((request: Request) => {
    throw new ServiceError('not_found', `The path ${request.path.slice(0, 200)} does not exist`);
  });
  app.use(sendProblem(options.log, options));
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

/** Adds HEAD to GET, because Express answers it. */
function methodsByPath(operations: readonly Pick<Operation<never>, 'path' | 'method'>[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of operations) {
    const more = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methods.set(path, [...(methods.get(path) ?? []), ...more]);
  }
  return methods;
}
