import type { Readable } from 'node:stream';
import { heldBody } from '../budgets/hold-body.ts';
import type { Context } from '../context.ts';
import { type ContentKind, contentKind } from '../http/content-type.ts';
import { withoutHeaders } from '../http/header-list.ts';
import type { RequestMessage } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { hasBody, readBody, readOrStreamBody } from './read-body.ts';

const noBody = Buffer.alloc(0);

/**
 * The request with its headers as they came. A body that somebody has to read is in memory, or, where it is too
 * large for that and no transform is to see it, a stream; one that was compressed is decoded, and goes on without coding.
 */
export async function readRequest(invocation: Invocation, context: Context): Promise<RequestMessage> {
  const { request } = invocation;
  const kind = contentKind(request.headers['content-type']);
  const headers = request.rawHeaders;
  if (!hasBody(request)) return { headers, kind, body: noBody };
  if (!mustBeRead(kind, invocation)) return { headers, kind, body: request };
  const isCoded = request.headers['content-encoding'] !== undefined;
  const body = await readHeld(invocation, { isCoded, isTransformed: isTransformed(kind, invocation) }, context);
  return { headers: isCoded ? withoutHeaders(headers, 'content-encoding') : headers, kind, body };
}

/** Room is reserved before anything is read. */
async function readHeld(
  invocation: Invocation,
  known: { isCoded: boolean; isTransformed: boolean },
  context: Context,
): Promise<Buffer | Readable> {
  const { request } = invocation;
  const length = request.headers['content-length'];
  const contentLength = length === undefined ? undefined : Number(length);
  const limit = context.bodyLimitBytes;
  // It will not be collected: it streams, or is refused.
  if (contentLength !== undefined && contentLength > limit) {
    return (known.isTransformed ? readBody : readOrStreamBody)(request, limit);
  }
  const held = heldBody(invocation, 'request', context, { contentLength, ...known });
  const room = held.begin(contentLength);
  if (room) await room;
  const body = await (known.isTransformed ? readBody : readOrStreamBody)(request, limit, {
    held,
    timeoutMs: context.bodyTimeoutMs,
  });
  if (Buffer.isBuffer(body)) held.has(body.length, known);
  else held.isStreamed();
  return body;
}

/** Nobody reads binary bodies, nor those of callers without a key where there is no transform. */
function mustBeRead(kind: ContentKind, invocation: Invocation): boolean {
  if (kind === 'opaque') return false;
  return isTransformed(kind, invocation) || invocation.proxy.requireAuth || invocation.head.apiKey !== undefined;
}

/** Transforms do not see multipart bodies, which therefore have any size. */
function isTransformed(kind: ContentKind, { proxy }: Invocation): boolean {
  return proxy.requestTransform !== undefined && kind !== 'multipart';
}
