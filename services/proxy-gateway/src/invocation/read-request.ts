import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { growAsItArrives } from '@sluice/body-bytes';
import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { Context } from '../context.ts';
import { mayStartLikeJson, startsLikeJson } from '../detokenization/stream/reader-for.ts';
import { withoutCallerAddress } from '../http/caller-address.ts';
import { type ContentKind, contentKind } from '../http/content-type.ts';
import { withoutHeaders } from '../http/header-list.ts';
import type { HeaderList, RequestMessage } from '../http/message.ts';
import { withoutValidators } from '../http/validators.ts';
import { withoutKeys } from '../http/without-keys.ts';
import { copies, mostBytesOf } from '../limits/body-memory.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { hasBody, peekAtBody, readBody, readOrStreamBody, takeWholeBody } from './read-body.ts';

type ReadingRequests = Pick<Context, 'decodings' | 'bodyLimitBytes' | 'bodyTimeoutMs' | 'budgets'>;

const noBody = Buffer.alloc(0);
/** As much as the first window of a streamed body. */
const mostOfStart = 64 * 1024;

/** A body that must be read is buffered. If it is too large, it is streamed, unless a transform needs it. */
export async function readRequest(invocation: Invocation, context: ReadingRequests): Promise<RequestMessage> {
  const {
    request,
    head: { target, route },
  } = invocation;
  const kind = contentKind(request.headers['content-type']);
  const received = route ? withoutKeys(request.rawHeaders) : request.rawHeaders;
  const headers = withoutOverrides(withoutCallerAddress(received, received), invocation.proxy);
  if (!hasBody(request) || !mustBeRead(kind, invocation)) {
    return {
      target,
      received,
      headers,
      set: undefined,
      kind,
      body: hasBody(request) ? request : noBody,
      isBodyNew: false,
    };
  }
  const isCoded = request.headers['content-encoding'] !== undefined;
  const reading = readHeld(invocation, { isCoded, isTransformed: isTransformed(kind, invocation) }, context);
  const body = reading instanceof Promise ? await reading : reading;
  if (isCoded) {
    const decoded = withoutValidators(withoutHeaders(headers, 'content-encoding'), request.headers);
    return { target, received, headers: decoded, set: undefined, kind, body, isBodyNew: true };
  }
  const mayBeJson = kind !== 'none' || body !== request || (await seemsJson(request, context));
  return { target, received, headers, set: undefined, kind: mayBeJson ? kind : 'opaque', body, isBodyNew: false };
}

/** Some servers take method or path from these headers, and the call would be another than the one that is allowed. */
const overrides = [
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
] as const;

function withoutOverrides(headers: HeaderList, { allowedMethods, allowedPaths }: ProxyDefinition): HeaderList {
  return allowedMethods || allowedPaths ? withoutHeaders(headers, ...overrides) : headers;
}

/** A body that is not JSON passes with its length, because some destinations, such as S3, take no chunked bodies. */
async function seemsJson(
  request: IncomingMessage,
  { bodyLimitBytes }: Pick<Context, 'bodyLimitBytes'>,
): Promise<boolean> {
  const length = request.headers['content-length'];
  if (length === undefined) return true;
  const most = Math.min(mostOfStart, bodyLimitBytes, Number(length));
  return startsLikeJson(await peekAtBody(request, most, mayStartLikeJson));
}

/** Without a promise if the body has already arrived and its memory is available, as with most bodies. */
function readHeld(
  invocation: Invocation,
  known: { isCoded: boolean; isTransformed: boolean },
  context: ReadingRequests,
): AtOnceOrLater<Buffer | Readable> {
  const { request } = invocation;
  const length = request.headers['content-length'];
  const contentLength = length === undefined ? undefined : Number(length);
  const limit = context.bodyLimitBytes;
  const { isCoded, isTransformed } = known;
  const read: typeof readOrStreamBody = isTransformed ? readBody : readOrStreamBody;
  if (contentLength !== undefined && contentLength > limit && !isCoded) return read(request, limit);
  const { memory, tenantId } = invocation.acting;
  const mostLength = Math.min(contentLength ?? limit, limit);
  const part = memory.part('request', mostBytesOf({ length: mostLength, ...known }, context));
  const arriving = { copies, mostLength };
  const keep = (body: Buffer | Readable) => {
    if (Buffer.isBuffer(body)) {
      part.shrinkTo(copies * body.length, mostBytesOf({ length: body.length, isTransformed }, context));
    }
    return body;
  };
  const room = growAsItArrives(part, 0, arriving);
  const whole = room || isCoded ? undefined : takeWholeBody(request, limit);
  if (whole) return keep(whole);
  const decode = isCoded ? context.decodings.of(tenantId) : undefined;
  const reading = { memory, arriving, decode, timeoutMs: context.bodyTimeoutMs };
  return Promise.resolve(room)
    .then(() => read(request, limit, reading))
    .then(keep);
}

/** Binary bodies are never read. Others are read for a transform, or for expressions if the Proxy replaces them and a key may come. */
function mustBeRead(kind: ContentKind, invocation: Invocation): boolean {
  if (kind === 'opaque') return false;
  const { proxy, head } = invocation;
  if (isTransformed(kind, invocation)) return true;
  if (proxy.tokenPlaces?.includes('body') === false) return false;
  return proxy.requireAuth || head.route !== undefined || head.keys.apiKey !== undefined;
}

/** Transforms do not see multipart bodies, so these may have any size. */
function isTransformed(kind: ContentKind, { proxy }: Invocation): boolean {
  return proxy.requestTransform !== undefined && kind !== 'multipart';
}
