import type { Readable } from 'node:stream';
import type { Pieces } from '@sluice/service-runtime';
import { heldBody } from '../budgets/hold-body.ts';
import { spendExpressions } from '../budgets/spend-expressions.ts';
import type { Context } from '../context.ts';
import { feed } from '../http/content-coding.ts';
import type { ContentKind } from '../http/content-type.ts';
import { isJsonInPieces } from '../http/is-json.ts';
import type { HeaderList, RequestMessage } from '../http/message.ts';
import { authenticateCaller } from '../proxies/authenticate.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { faultInPlaces, fillPlaces, filterInPieces, neededIn, newTokenIdsIn, textLengthIn } from './detokenize.ts';
import { type Asked, discloseTokens } from './disclose.ts';
import { findExpressions, findExpressionsInPieces, mayHoldExpression } from './find-expressions.ts';
import { boundaryOf } from './multipart/boundary.ts';
import { findInMultipart, findInMultipartInPieces } from './multipart/multipart-reader.ts';
import { expressionsOf, type Place } from './place.ts';
import { RevealStream } from './stream/reveal-stream.ts';

/** Notes the disclosure, then puts the values in the place of the expressions: what filters leave tells of them, too. */
export async function reveal(
  invocation: Invocation,
  message: RequestMessage,
  context: Context,
): Promise<RequestMessage> {
  const { kind, headers, body } = message;
  if (kind === 'opaque' || (!invocation.caller && invocation.head.apiKey === undefined)) return message;
  if (Buffer.isBuffer(body))
    return { kind, headers, body: await revealInMemory(invocation, { kind, headers, body }, context) };
  return { kind, headers, body: revealWhileStreaming(invocation, { kind, headers, body }, context) };
}

interface ReadableBody<Body> {
  kind: Exclude<ContentKind, 'opaque'>;
  headers: HeaderList;
  body: Body;
}

/** Up to this size a body is read and filled at once, because that takes at most a few milliseconds. */
const largestPiece = 8 * 1024;
/** Up to this size the room that a body has been given for itself covers its values. */
const smallGrowth = 16 * 1024;

async function revealInMemory(
  invocation: Invocation,
  message: ReadableBody<Buffer>,
  context: Context,
): Promise<Buffer> {
  const { body } = message;
  if (!mayHoldExpression(body)) return body;
  const isLarge = body.length > largestPiece;
  const inPieces = <T>(work: Pieces<T>) => context.workPieces.run(invocation.proxy.tenantId, work);
  const places = isLarge ? await inPieces(placesInPieces(message)) : placesIn(message);
  if (places.length === 0) return body;
  spendExpressions(invocation, expressionsOf(places), context.budgets.expressions);
  const asked = { tokenIds: newTokenIdsIn(places), needed: neededIn(places), fault: faultInPlaces(places) };
  const values = await discloseTokens(invocation, asked, context);
  const limitBytes = context.bodyLimitBytes;
  const grown = Math.min(body.length + textLengthIn(places, values), limitBytes);
  if (!isLarge && grown <= smallGrowth) return fillPlaces(body, places, { values, limitBytes });
  const held = heldBody(invocation, 'request', context);
  await held.fill(grown);
  const filtered = isLarge ? { filtered: await inPieces(filterInPieces(places, { values, limitBytes })) } : undefined;
  const filled = fillPlaces(body, places, { values, limitBytes, ...filtered });
  held.has(filled.length, { isTransformed: invocation.proxy.requestTransform !== undefined });
  return filled;
}

function placesIn({ kind, headers, body }: ReadableBody<Buffer>): Place[] {
  if (kind === 'multipart') return findInMultipart(body, boundaryOf(headers));
  return findExpressions(body, kind === 'none' && isJson(body) ? 'json' : kind);
}

function* placesInPieces({ kind, headers, body }: ReadableBody<Buffer>): Pieces<Place[]> {
  if (kind === 'multipart') return yield* findInMultipartInPieces(body, boundaryOf(headers));
  if (kind !== 'none') return yield* findExpressionsInPieces(body, kind);
  const latin1 = body.toString('latin1');
  return (yield* isJsonInPieces(latin1)) ? yield* findExpressionsInPieces(body, 'json') : [];
}

/** An upload can take long: nothing new is revealed for a key that was revoked after it began. */
function revealWhileStreaming(
  invocation: Invocation,
  { kind, headers, body }: ReadableBody<Readable>,
  context: Context,
): Readable {
  const fetchValues = async (asked: Asked) => {
    invocation.caller = await authenticateCaller(invocation.head.apiKey, invocation.proxy, context);
    return discloseTokens(invocation, asked, context);
  };
  const boundary = kind === 'multipart' ? boundaryOf(headers) : undefined;
  const stream = new RevealStream({ kind, boundary, fetchValues, limitBytes: context.bodyLimitBytes });
  invocation.revealing = stream;
  return feed(body, stream);
}

/** A body without content type is JSON if it parses. */
function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
