import type { Request } from 'express';
import type { ApiOptions } from './api-options.ts';
import { type KeepReply, readIdempotencyKey } from './idempotency/idempotency-store.ts';
import {
  type Asking,
  type Confirmation,
  createsOnce,
  type Operation,
  Reply,
  takesIdempotencyKey,
} from './operation.ts';
import { withConfirmation } from './send-answer.ts';

interface OnceOptions<C> {
  operation: Operation<C>;
  asking: Asking;
  body: unknown;
  ifMatch: string | undefined;
  options: ApiOptions<C>;
}

/** A replay returns the stored response without acting again. */
export async function once<C>(
  request: Request,
  { operation, asking, body, ifMatch, options }: OnceOptions<C>,
  work: (keep?: KeepReply) => Promise<Reply>,
): Promise<{ reply: Reply; isReplay: boolean }> {
  const { idempotency, context, headerPrefix } = options;
  const key =
    idempotency && takesIdempotencyKey(operation)
      ? readIdempotencyKey(request, `${headerPrefix}-IDEMPOTENCY-KEY`)
      : undefined;
  if (!idempotency || key === undefined) return { reply: await work(), isReplay: false };
  let isReplay = false;
  const onReplay = async (kept: Reply, confirmation?: Confirmation) => {
    isReplay = true;
    const reply = confirmation ? withConfirmation(kept, confirmation, headerPrefix) : kept;
    const body = operation.replay ? await operation.replay(reply.body, context, asking) : reply.body;
    const { ETag: _, ...headers } = reply.headers; // it may have been changed since
    return new Reply(reply.status, body, headers);
  };
  const toKeep = (reply: Reply) =>
    operation.keep ? new Reply(reply.status, operation.keep(reply.body), reply.headers) : reply;
  const { caller, hold } = asking;
  const { method } = operation;
  const creates = createsOnce(operation);
  const asked = { caller, method, path: request.path, key, body, ifMatch, creates, hold, toKeep, onReplay };
  return { reply: await idempotency.run(asked, work), isReplay };
}
