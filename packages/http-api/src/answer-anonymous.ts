import { addressReader } from '@sluice/hosts';
import type { Request, Response } from 'express';
import { type ApiOptions, defaultIdleReaderMs, type Shared } from './api-options.ts';
import { operationBodyCheck } from './near-misses.ts';
import type { AnonymousOperation } from './operation.ts';
import { readCheckedBody } from './read-checked-body.ts';
import { releaseOnceSent } from './request-memory.ts';
import { send, toReply } from './send-answer.ts';

const anonymousBodyLimitBytes = 16 * 1024;

/** No caller is known, so no rights are checked and no memory is reserved. The body must therefore be small. */
export function answerAnonymous<C>(
  operation: AnonymousOperation<C>,
  options: ApiOptions<C>,
  { passes, bodyBytes }: Shared,
) {
  const { headerPrefix, addressOf = addressReader(), idleReaderMs = defaultIdleReaderMs } = options;
  const { body: schema, response: answered } = operation;
  const check = schema && operationBodyCheck({ body: schema, response: answered });
  const limited = { bodyLimitBytes: anonymousBodyLimitBytes, ...operation };
  return async (request: Request, response: Response): Promise<void> => {
    const memory = bodyBytes.open({ tenantId: 'anonymous operations', caller: response });
    try {
      const reading = check && { check, memory, passes, tenantId: 'anonymous operations' };
      const body = reading ? (await readCheckedBody(request, limited, reading)).json : undefined;
      const input = { body, request, traceId: response.locals.traceId, address: () => addressOf(request) };
      const reply = toReply(operation, await operation.handle(input as never, options.context), headerPrefix);
      send(response, reply, { mediaType: 'application/json', idleReaderMs });
    } finally {
      releaseOnceSent(memory, response);
    }
  };
}
