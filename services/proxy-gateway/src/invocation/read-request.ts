import type { Readable } from 'node:stream';
import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import { heldBody } from '../budgets/hold-body.ts';
import type { Context } from '../context.ts';
import { type ContentKind, contentKind } from '../http/content-type.ts';
import { withoutHeaders } from '../http/header-list.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { hasBody, readBody, readOrStreamBody } from './read-body.ts';

const noBody = Buffer.alloc(0);

/** A body that must be read is held. If it is too large and no transform has to see it, it streams. */
export function readRequest(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  const { request } = invocation;
  const kind = contentKind(request.headers['content-type']);
  const headers = request.rawHeaders;
  if (!hasBody(request) || !mustBeRead(kind, invocation)) {
    invocation.message = { headers, kind, body: hasBody(request) ? request : noBody };
    return undefined;
  }
  const isCoded = request.headers['content-encoding'] !== undefined;
  const read = readHeld(invocation, { isCoded, isTransformed: isTransformed(kind, invocation) }, context);
  return andThen(read, (body) => {
    invocation.message = { headers: isCoded ? withoutHeaders(headers, 'content-encoding') : headers, kind, body };
  });
}

function readHeld(
  invocation: Invocation,
  known: { isCoded: boolean; isTransformed: boolean },
  context: Context,
): AtOnceOrLater<Buffer | Readable> {
  const { request } = invocation;
  const length = request.headers['content-length'];
  const contentLength = length === undefined ? undefined : Number(length);
  const limit = context.bodyLimitBytes;
  const read: typeof readOrStreamBody = known.isTransformed ? readBody : readOrStreamBody;
  if (contentLength !== undefined && contentLength > limit && !known.isCoded) return read(request, limit);
  const held = heldBody(invocation, 'request', context, { contentLength, ...known });
  const decode = known.isCoded ? context.decodings.of(invocation.proxy.tenantId) : undefined;
  return andThen(held.begin(contentLength), () =>
    andThen(read(request, limit, { held, decode, timeoutMs: context.bodyTimeoutMs }), (body) => {
      if (Buffer.isBuffer(body)) held.has(body.length, known);
      return body;
    }),
  );
}

/** Binary bodies are never read. Others are read for a transform, or for expressions if the caller has a key. */
function mustBeRead(kind: ContentKind, invocation: Invocation): boolean {
  if (kind === 'opaque') return false;
  return isTransformed(kind, invocation) || invocation.proxy.requireAuth || invocation.head.apiKey !== undefined;
}

/** Transforms do not see multipart bodies, so these may have any size. */
function isTransformed(kind: ContentKind, { proxy }: Invocation): boolean {
  return proxy.requestTransform !== undefined && kind !== 'multipart';
}
