import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { feed } from '../http/body-stream.ts';
import type { ContentKind } from '../http/content-type.ts';
import type { RequestMessage } from '../http/message.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { fillPlaces, newTokenIdsIn } from './detokenize.ts';
import { discloseTokens } from './disclose.ts';
import { findExpressions, mayHoldExpression } from './find-expressions.ts';
import { RevealStream } from './stream/reveal-stream.ts';

/** Notes the disclosure, then puts the values in the place of the expressions: what a filter fails on tells of them, too. */
export async function reveal(
  invocation: Invocation,
  message: RequestMessage,
  context: Context,
): Promise<RequestMessage> {
  const { kind, headers, body } = message;
  if (kind === 'opaque' || (!invocation.caller && invocation.head.apiKey === undefined)) return message;
  if (Buffer.isBuffer(body)) return { kind, headers, body: await revealInMemory(invocation, { kind, body }, context) };
  return { kind, headers, body: revealWhileStreaming(invocation, { kind, body }, context) };
}

interface ReadableBody<Body> {
  kind: Exclude<ContentKind, 'opaque'>;
  body: Body;
}

async function revealInMemory(
  invocation: Invocation,
  { kind, body }: ReadableBody<Buffer>,
  context: Context,
): Promise<Buffer> {
  if (!mayHoldExpression(body)) return body;
  const places = findExpressions(body, kind === 'none' ? untypedKind(body) : kind);
  if (places.length === 0) return body;
  const values = await discloseTokens(invocation, newTokenIdsIn(places), context);
  return fillPlaces(body, places, { values, limitBytes: context.bodyLimitBytes });
}

/** An upload can take long: nothing new is revealed for a key that was revoked after it began. */
function revealWhileStreaming(
  invocation: Invocation,
  { kind, body }: ReadableBody<Readable>,
  context: Context,
): Readable {
  const fetchValues = async (ids: readonly string[]) => {
    invocation.caller = await authenticateCaller(invocation.head.apiKey, invocation.proxy, context);
    return discloseTokens(invocation, ids, context);
  };
  const stream = new RevealStream({ kind, fetchValues, limitBytes: context.bodyLimitBytes });
  invocation.revealing = stream;
  return feed(body, stream);
}

/** A body without content type is JSON if it parses. */
function untypedKind(body: Buffer): ContentKind {
  try {
    JSON.parse(body.toString());
    return 'json';
  } catch {
    return 'opaque';
  }
}
