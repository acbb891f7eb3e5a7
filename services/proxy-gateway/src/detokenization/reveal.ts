import type { Readable } from 'node:stream';
import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { Charset } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { decryptedBytes, expressionMayGrow, longestPadding } from '@sluice/vault';
import { type Looking, look } from '../acting/look.ts';
import type { Context } from '../context.ts';
import { feed } from '../http/content-coding.ts';
import type { ContentKind } from '../http/content-type.ts';
import { isJsonInPieces } from '../http/is-json.ts';
import type { HeaderList, RequestMessage } from '../http/message.ts';
import { withoutValidators } from '../http/validators.ts';
import { copies, keepOnly, memoryOf, mostBytesOf } from '../limits/body-memory.ts';
import { decryptionBudgetOf } from '../limits/decryption-budget.ts';
import { spendExpressions } from '../limits/spend-expressions.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { asRead, bodyCharset, isUtf16, notUtf16, withCharsetFault } from './body-charset.ts';
import type { Asked, DecryptedBody } from './decrypted-body.ts';
import { askedIn, fillPlaces, filterInPieces, mostTextIn } from './detokenize.ts';
import { type DecryptingTokens, decryptTokens, recordDisclosure } from './disclose.ts';
import { findExpressions, findExpressionsInPieces, mayHoldExpression } from './find-expressions.ts';
import { boundaryOf } from './multipart/boundary.ts';
import { findInMultipart, findInMultipartInPieces } from './multipart/multipart-reader.ts';
import { expressionsOf, type Place } from './place.ts';
import { heldWhileStreaming, RevealStream } from './stream/reveal-stream.ts';

type Detokenizing = DecryptingTokens & Looking & Pick<Context, 'bodyLimitBytes' | 'budgets' | 'workPieces'>;

interface ReadableBody<Body> {
  kind: Exclude<ContentKind, 'opaque'>;
  headers: HeaderList;
  body: Body;
}

type ReadBody = ReadableBody<Buffer> & { charset: Charset | undefined };

/** Bodies up to this size are read and filled in one go, because that takes at most a few milliseconds. */
const largestPiece = 8 * 1024;
/** The bytes reserved for the body itself suffice for values up to this size. */
const smallGrowth = 16 * 1024;

/**
 * Replaces the expressions of the body by the values of their tokens. The disclosure is logged before any value leaves.
 */
export function detokenizeBody(
  invocation: Invocation,
  message: RequestMessage,
  context: Detokenizing,
): AtOnceOrLater<RequestMessage> {
  const { kind, headers, body } = message;
  if (kind === 'opaque' || (!invocation.acting.caller && invocation.head.keys.apiKey === undefined)) return message;
  if (!Buffer.isBuffer(body)) return detokenizeStream(invocation, { ...message, kind, body }, context);
  const charset = bodyCharset(kind, headers, body);
  if (!isUtf16(charset) && !mayBeFilled(kind, body)) return message;
  return detokenizeWhole(invocation, { ...message, kind, body, charset }, context);
}

async function detokenizeStream(
  invocation: Invocation,
  message: RequestMessage & ReadableBody<Readable>,
  context: Detokenizing,
): Promise<RequestMessage> {
  await memoryOf(invocation.acting, 'request', context).grow(heldWhileStreaming);
  // Whether it contains an expression is known only after its headers have been sent
  return withBody(revealWhileStreaming(invocation, message, context), message, invocation);
}

async function detokenizeWhole(
  invocation: Invocation,
  message: RequestMessage & ReadBody,
  context: Detokenizing,
): Promise<RequestMessage> {
  const { charset } = message;
  const decrypted = isUtf16(charset)
    ? await decryptUtf16(invocation, { ...message, charset }, context)
    : await decryptExpressions(invocation, message, context);
  if (!decrypted) return message;
  const recorded = recordDisclosure(invocation, decrypted, context.vault);
  if (recorded) await recorded;
  const filled = fillBody(invocation, decrypted, context);
  return withBody(filled instanceof Promise ? await filled : filled, message, invocation);
}

/** Reads it as UTF-8, see {@link fillLargeBody}. */
async function decryptUtf16(
  invocation: Invocation,
  { kind, headers, body, charset }: ReadBody & { charset: Charset },
  context: Detokenizing,
): Promise<DecryptedBody | undefined> {
  await memoryOf(invocation.acting, 'request', context).grow(body.length * copies);
  const text = charset.decode(body);
  if (text !== undefined)
    return decryptExpressions(invocation, { kind, headers, body: Buffer.from(text), charset }, context);
  if (body.includes(openingInUtf16)) throw notUtf16();
  return undefined;
}

/** In both byte orders. */
const openingInUtf16 = Buffer.from('{\0{');

async function decryptExpressions(
  invocation: Invocation,
  message: ReadBody,
  context: Detokenizing,
): Promise<DecryptedBody | undefined> {
  const { kind, body, charset } = message;
  if (!mayBeFilled(kind, body)) return undefined;
  const { expressions: most } = context.budgets;
  const places = isLarge(body)
    ? await context.workPieces.run(invocation.proxy.tenantId, placesInPieces(message, most))
    : placesIn(message, most);
  if (places.length === 0) return undefined;
  spendExpressions(invocation.acting, expressionsOf(places), most);
  const { caller, tokenIds, values } = await decryptTokens(
    invocation,
    withCharsetFault(askedIn(places), kind, charset),
    context,
  );
  return { body, places, charset, caller, tokenIds, values };
}

/** A part of a form may be in UTF-16, and is then refused. */
function mayBeFilled(kind: ContentKind, body: Buffer): boolean {
  return mayHoldExpression(body) || (kind === 'multipart' && body.includes(openingInUtf16));
}

function fillBody(invocation: Invocation, decrypted: DecryptedBody, context: Detokenizing): AtOnceOrLater<Buffer> {
  const { body, places, charset, values } = decrypted;
  const limitBytes = context.bodyLimitBytes;
  // Each expression adds at most all that was decrypted and some padding, so most bodies need not be measured
  const most =
    expressionsOf(places) * (decryptedBytes(decryptionBudgetOf(invocation.acting, context)) + longestPadding);
  const isFew = most <= smallGrowth && !places.some(mayGrow);
  const grown = Math.min(body.length + (isFew ? most : mostTextIn(places, values)), limitBytes);
  if (isLarge(body) || grown > smallGrowth || isUtf16(charset))
    return fillLargeBody(invocation, { ...decrypted, grown }, context);
  return fillPlaces(body, places, { values, limitBytes });
}

/** The destination would refuse the new body if it came with the digest of the old one. */
function withBody(body: Buffer | Readable, { kind, headers }: RequestMessage, { request }: Invocation): RequestMessage {
  return { kind, headers: withoutValidators(headers, request.headers), body, isBodyNew: true };
}

const mayGrow = ({ segments }: Place) =>
  segments.some((segment) => segment.kind === 'expression' && expressionMayGrow(segment));

async function fillLargeBody(
  invocation: Invocation,
  { body, places, charset, values, grown }: DecryptedBody & { grown: number },
  context: Detokenizing,
): Promise<Buffer> {
  const { proxy } = invocation;
  const limitBytes = context.bodyLimitBytes;
  const memory = memoryOf(invocation.acting, 'request', context);
  await memory.grow((isUtf16(charset) ? 3 * grown : grown) * copies); // in UTF-16 a letter takes two bytes
  const filtered = await context.workPieces.run(proxy.tenantId, filterInPieces(places, { values, limitBytes }));
  const utf8 = fillPlaces(body, places, { values, limitBytes, filtered });
  const filled = isUtf16(charset) ? (charset.encode(utf8.toString()) ?? utf8) : utf8;
  const isTransformed = proxy.requestTransform !== undefined;
  keepOnly(memory, filled.length, mostBytesOf({ length: filled.length, isTransformed }, context));
  return filled;
}

function isLarge(body: Buffer): boolean {
  return body.length > largestPiece;
}

function placesIn({ kind, headers, body, charset }: ReadBody, most: number): Place[] {
  if (kind === 'multipart') return findInMultipart(body, boundaryOf(headers), most);
  return findExpressions(body, kind === 'none' && isJson(body) ? 'json' : kind, { most, charset: asRead(charset) });
}

function* placesInPieces({ kind, headers, body, charset }: ReadBody, most: number): Pieces<Place[]> {
  if (kind === 'multipart') return yield* findInMultipartInPieces(body, boundaryOf(headers), most);
  if (kind !== 'none') return yield* findExpressionsInPieces(body, kind, { most, charset: asRead(charset) });
  const latin1 = body.toString('latin1', isMarked(body) ? 3 : 0);
  return (yield* isJsonInPieces(latin1)) ? yield* findExpressionsInPieces(body, 'json', { most }) : [];
}

function revealWhileStreaming(
  invocation: Invocation,
  { kind, headers, body }: ReadableBody<Readable>,
  context: Detokenizing,
): Readable {
  const fetchValues = async (asked: Asked) => {
    const decrypted = await decryptTokens(invocation, asked, context);
    await recordDisclosure(invocation, decrypted, context.vault);
    return decrypted.values;
  };
  const boundary = kind === 'multipart' ? boundaryOf(headers) : undefined;
  const { tenantId } = invocation.proxy;
  const stream = new RevealStream({
    kind,
    boundary,
    charsetOf: (start) => bodyCharset(kind, headers, start),
    fetchValues,
    look: () => look(invocation.acting, context),
    run: (work) => context.workPieces.run(tenantId, work),
    reserve: () => context.bodyBytes.open({ tenantId, direction: 'request' }),
    limitBytes: context.bodyLimitBytes,
  });
  invocation.revealing = stream;
  invocation.acting.isStreamed = true;
  return feed(body, stream);
}

/** By a byte order mark of UTF-8, which `JSON.parse` refuses. */
function isMarked(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

/** A body without a content type is JSON if it parses. */
function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8', isMarked(body) ? 3 : 0));
    return true;
  } catch {
    return false;
  }
}
