import type { Reservation } from '@sluice/body-bytes';
import type { Caller } from '@sluice/credentials';
import { Judgement } from '@sluice/credentials';
import { asTenant, type Queryable } from '@sluice/database';
import { addressReader } from '@sluice/hosts';
import { endedEarly } from '@sluice/problems';
import type { Request, Response } from 'express';
import { type ApiOptions, defaultIdleReaderMs, type Shared } from './api-options.ts';
import { refuseCaller, requireSame } from './check-caller.ts';
import { checkText } from './check-text.ts';
import { atCookieApi } from './cookie-api.ts';
import { readIfMatch, takesIfMatch, withEntityTag } from './entity-tag.ts';
import { isFromFields } from './fields-host.ts';
import type { KeepReply } from './idempotency/idempotency-store.ts';
import { operationBodyCheck } from './near-misses.ts';
import { once } from './once.ts';
import { type Look, type Operation, type SettleAnswer, Streamed } from './operation.ts';
import { refuseOrigin, showToOrigin } from './origins.ts';
import type { JsonBody } from './read-body.ts';
import { readCheckedBody } from './read-checked-body.ts';
import { readQuery } from './read-query.ts';
import { answerPart, releaseOnceSent } from './request-memory.ts';
import { send, toReply } from './send-answer.ts';
import { sendStream } from './send-stream.ts';
import { type Check, queryCheck, refuse } from './validate.ts';

const noBody: JsonBody = { json: undefined, sizeBytes: 0 };

/** The order of checks is 401, 403, 415, 400, and then the handler's 404, 409 and 422. */
export function answer<C>(operation: Operation<C>, options: ApiOptions<C>, { passes, bodyBytes }: Shared) {
  const { headerPrefix, addressOf = addressReader(), idleReaderMs = defaultIdleReaderMs } = options;
  const checks = compileChecks(operation);
  const { fieldsOrigin, judgesOrigins, corsOrigins } = options;
  return async (request: Request, response: Response): Promise<void> => {
    const accept = (caller: Caller): Caller => {
      response.locals.tenantId = caller.tenantId;
      if (operation.cors || judgesOrigins) refuseOrigin(request, response, { caller, fieldsOrigin });
      options.admit?.(request, caller);
      refuseCaller(operation, caller);
      return caller;
    };
    const authorize = (tx?: Queryable) => {
      const found = options.authenticate(request, tx);
      return found instanceof Promise ? found.then(accept) : accept(found);
    };
    const judgement = new Judgement(options.caches);
    const caller = await authorize();
    if (operation.cors && corsOrigins !== undefined) showToOrigin(request, response, { caller, headerPrefix });
    judgement.endsAt(caller.expiresAt);
    const look: Look = (tx) => judgement.look(() => requireSame(caller, authorize(tx)));
    const memory = bodyBytes.open({ tenantId: caller.tenantId, caller: response });
    try {
      const work = () => answerCaller(request, response, { caller, authorize, look, memory });
      await asTenant(caller.tenantId, work, (leave) => whenClosed(response, () => leave(endedEarly())));
    } finally {
      releaseOnceSent(memory, response);
    }
  };

  async function answerCaller(request: Request, response: Response, { caller, authorize, look, memory }: Admitted) {
    const { traceId } = response.locals;
    const accepted = mediaTypeOf(request, operation);
    const read = operation.body
      ? await readCheckedBody(request, operation, { check: checks.body, memory, passes, tenantId: caller.tenantId })
      : noBody;
    const { json: body, text: bodyText, sizeBytes: bodyBytes } = read;
    const params = { ...request.params };
    checks.params(params);
    const query = operation.query ? readQuery(request.url, operation.query) : {};
    refuse(checkText(query));
    checks.query(query);
    const ifMatch = takesIfMatch(operation) ? textOf(request.headers['if-match']) : undefined;
    const requireVersion = readIfMatch(ifMatch);
    const hold = (bytes: number) => answerPart(memory).grow(bytes);
    const asking = { caller, traceId, hold, look };
    const work = async (keep?: KeepReply) => {
      const settle: SettleAnswer | undefined =
        keep && ((tx, result, change) => keep(tx, toReply(operation, result, headerPrefix), change));
      const address = () => addressOf(request);
      const header = (name: string) => textOf(request.headers[name]);
      const whenLeft = (act: () => void) => void whenClosed(response, act);
      const fromFields = () => isFromFields(request, fieldsOrigin);
      const known = {
        params,
        query,
        body,
        bodyBytes,
        accepted,
        address,
        fromFields,
        header,
        ...(bodyText !== undefined && { bodyText }),
      };
      const input = { ...known, settle, whenLeft, requireVersion, ...asking };
      return toReply(operation, await operation.handle(input as never, options.context), headerPrefix);
    };
    const { reply, isReplay } = await once(request, { operation, asking, body, ifMatch, options }, work);
    if (isReplay || operation.showsSecrets) await look();
    if (!(reply.body instanceof Streamed)) {
      const shown = operation.versioned ? withEntityTag(reply) : reply;
      return send(response, options.byCookie ? atCookieApi(shown) : shown, { mediaType: accepted, idleReaderMs });
    }
    const { streams } = options;
    if (!streams) throw new Error('A service whose operations stream opens streams');
    const headers = { ...reply.headers, 'Content-Type': `${accepted}; charset=utf-8`, Vary: 'Accept' };
    await sendStream(request, response, reply.body.pieces, {
      streams,
      caller,
      // An event depends on all rights of the caller, not only on the right to listen.
      authorize: async () => (operation.events ? requireSame(caller, await authorize()) : authorize()),
      status: reply.status,
      headers,
    });
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Calls `act` when the connection closes, at once if it has closed. @returns a function that cancels this. */
function whenClosed(response: Response, act: () => void): () => void {
  if (response.destroyed) act();
  else response.once('close', act);
  return () => response.off('close', act);
}

interface Admitted {
  caller: Caller;
  /** @throws {ServiceError} if the caller may no longer call the operation. */
  authorize(tx?: Queryable): Caller | Promise<Caller>;
  look: Look;
  memory: Reservation;
}

function mediaTypeOf<C>(request: Request, { produces = 'application/json' }: Operation<C>): string {
  if (typeof produces === 'string') return produces;
  return request.accepts([...produces]) || (produces[0] ?? 'application/json');
}

function compileChecks<C>({ params, query, body, response }: Operation<C>): Record<'params' | 'query' | 'body', Check> {
  const accept: Check = () => {};
  return {
    params: params ? queryCheck(params) : accept,
    query: query ? queryCheck(query) : accept,
    body: body ? operationBodyCheck({ body, response }) : accept,
  };
}
