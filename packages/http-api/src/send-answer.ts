import type { Response } from 'express';
import { type Confirmation, Confirmed, JsonText, type Operation, Reply } from './operation.ts';
import { smallAnswer } from './request-memory.ts';

/** A handler may return the body alone. */
export function toReply(operation: Pick<Operation<never>, 'response'>, result: unknown, headerPrefix: string): Reply {
  if (result instanceof Confirmed) {
    return withConfirmation(toReply(operation, result.result, headerPrefix), result.confirmation, headerPrefix);
  }
  return result instanceof Reply ? result : new Reply(Number(Object.keys(operation.response)[0]), result);
}

export function withConfirmation(
  reply: Reply,
  { changeId, holders, waitedMs }: Confirmation,
  headerPrefix: string,
): Reply {
  const confirmation = `change=${changeId}, holders=${holders}, waited_ms=${waitedMs}`;
  return new Reply(reply.status, reply.body, { ...reply.headers, [`${headerPrefix}-REVOCATION`]: confirmation });
}

/** Uses node:http, because express's own `send` costs a tenth of a short request. */
export function send(
  response: Response,
  { status, headers, body }: Reply,
  { mediaType, idleReaderMs }: { mediaType: string; idleReaderMs: number },
): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = mediaType === 'application/json' && !(body instanceof JsonText) ? JSON.stringify(body) : String(body);
  const size = Buffer.byteLength(text);
  const framing = { 'Content-Type': `${mediaType}; charset=utf-8`, 'Content-Length': size };
  // Node checks twice, because buffers may still be filling.
  if (size > smallAnswer) response.setTimeout(idleReaderMs, () => response.destroy());
  response.writeHead(status, { ...headers, ...framing }).end(text);
}
