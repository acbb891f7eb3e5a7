import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { ServiceError } from '@sluice/problems';
import type { MessageLimits } from '@sluice/sandbox';
import type { RequestHeader } from '@sluice/vault';
import type { Context } from '../context.ts';
import { withoutCallerAddress } from '../http/caller-address.ts';
import {
  findHeader,
  type HeaderObject,
  inPairs,
  replaceHeaders,
  toHeaderObject,
  withoutHeaders,
} from '../http/header-list.ts';
import type { HeaderList, RequestMessage } from '../http/message.ts';
import { withoutKeys } from '../http/without-keys.ts';
import { copies } from '../limits/body-memory.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { runTransform, type Transforming } from './run-transform.ts';
import { applyWritten, passesBy, toTransformMessage, unreadableIn } from './transform-message.ts';

type TransformingRequests = Transforming & Pick<Context, 'destinations' | 'headerNames'>;

export function transformRequest(
  invocation: Invocation,
  message: RequestMessage,
  context: TransformingRequests,
): AtOnceOrLater<RequestMessage> {
  const { requestTransform: code } = invocation.proxy;
  return code === undefined ? message : transformBy(code, { invocation, message }, context);
}

async function transformBy(
  code: string,
  { invocation, message }: { invocation: Invocation; message: RequestMessage },
  context: TransformingRequests,
): Promise<RequestMessage> {
  const { clock } = invocation;
  clock.enter('transform');
  const { received, filled, body, kind, headers, isBodyNew } = message;
  if (!Buffer.isBuffer(body)) return message;
  const { apiKey, proxyKey } = context.headerNames;
  const { endToEnd } = context.destinations.headers;
  const onward = invocation.head.route ? withoutKeys : asTheyAre;
  const seenIn = (list: HeaderList) => toHeaderObject(endToEnd(list), new Set([apiKey, proxyKey, 'cdn-loop']));
  const sent = seenIn(received);
  const argsJson = JSON.stringify({ headers: sent, ...invocation.head.target });
  const limits = context.budgets.requestTransform;
  try {
    const seen = toTransformMessage({ headers, body }, kind, limits);
    if (!seen) return message;
    const written = await runTransform(invocation, { kind: 'request', code, argsJson, message: seen }, context);
    // The caller's `Connection` removes only the caller's headers, not those that the transform sets
    const came = written.headers ? received : (filled ?? received);
    const result = applyWritten(written, { headers: endToEnd(headers), body, message: 'request', came, isBodyNew });
    if (written.headers && message.set)
      refuseTooMany(replaceHeaders(result.headers, message.set), invocation.proxy, limits);
    if (result.body.length !== body.length) refusePart(endToEnd(headers));
    invocation.acting.memory.part('request').shrinkTo(copies * result.body.length);
    const passed = withoutCallerAddress(onward(withoutHeaders(result.headers, 'connection')), received);
    return {
      ...message,
      headers: written.headers && filled ? withValues(passed, sent, seenIn(filled)) : passed,
      body: result.body,
      isBodyNew: true,
    };
  } catch (error) {
    if (passesBy(error, kind)) return message;
    const unreadable = unreadableIn(error, limits);
    if (!unreadable) throw error;
    throw new ServiceError(unreadable.code, unreadable.detail, { limit: unreadable.limit });
  }
}

/** Headers that the code left as they were sent get their values; a text that it wrote itself is not searched. */
function withValues(headers: HeaderList, sent: HeaderObject, filled: HeaderObject): HeaderList {
  return inPairs(headers).flatMap(([name, text]) => {
    const lower = name.toLowerCase();
    const value = sent[lower] === text ? filled[lower] : undefined;
    return [name, typeof value === 'string' ? value : text];
  });
}

/** Values count by their expressions, so that no error tells how long they are. */
function refuseTooMany(
  all: readonly string[],
  { requestHeaders = [] }: ProxyDefinition,
  { headerLines, headerBytes }: MessageLimits,
): void {
  const own = new Set(requestHeaders.map(({ name }) => name));
  const passed = inPairs(all).filter(([name]) => !own.has(name));
  const bytes = passed.reduce((sum, [name, value]) => sum + name.length + value.length, sourceLengthOf(requestHeaders));
  if (passed.length + requestHeaders.length <= headerLines && bytes <= headerBytes) return;
  const detail = `With the request_headers of the Proxy the headers of the transform have more than ${headerLines} lines or ${headerBytes} bytes`;
  throw new ServiceError('transform_failed', detail, { limit: 'headers' });
}

function sourceLengthOf(headers: readonly RequestHeader[]): number {
  return headers.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
}

const asTheyAre = (headers: HeaderList) => headers;

/** Of a part whose length has changed nothing would be in its place in the whole. */
function refusePart(headers: readonly string[]): void {
  if (findHeader(headers, 'content-range') === undefined) return;
  const detail = 'The request has Content-Range, so the request transform must not change the length of its body';
  throw new ServiceError('bad_request', detail);
}
