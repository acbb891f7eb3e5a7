import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { ServiceError } from '@sluice/problems';
import type { Charset } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { decryptedBytes, expressionMayGrow, longestPadding } from '@sluice/vault';
import type { Context } from '../../context.ts';
import type { ContentKind } from '../../http/content-type.ts';
import { isJsonInPieces } from '../../http/is-json.ts';
import type { HeaderList, RequestMessage } from '../../http/message.ts';
import { withoutValidators } from '../../http/validators.ts';
import { copies, mostBytesOf } from '../../limits/body-memory.ts';
import type { Invocation } from '../../proxies/invocation.ts';
import { asRead, bodyCharset, charsetFault, isUtf16, notUtf16 } from '../body-charset.ts';
import { fillPlaces, filterInPieces, mostTextIn } from '../detokenize.ts';
import { findExpressions, findExpressionsInPieces, mayHoldExpression } from '../find-expressions.ts';
import { boundaryOf } from '../multipart/boundary.ts';
import { findInMultipart, findInMultipartInPieces } from '../multipart/multipart-reader.ts';
import { expressionsOf, type Place } from '../place.ts';
import type { Filling, Part } from './part.ts';
import { StreamedBody, type Streaming } from './streamed-body.ts';

export type FillingBodies = Streaming & Pick<Context, 'budgets'>;

interface ReadBody {
  kind: Exclude<ContentKind, 'opaque'>;
  headers: HeaderList;
  /** If it is UTF-16, its UTF-8 form. */
  body: Buffer;
  /** Undefined for an unknown one. */
  charset: Charset | undefined;
}

/** Bodies up to this size are read and filled in one go, because that takes at most a few milliseconds. */
const largestPiece = 8 * 1024;
/** The bytes reserved for the body itself suffice for values up to this size. */
const smallGrowth = 16 * 1024;

/** A body that passes as it is without a key is not searched. */
export function findInBody(
  invocation: Invocation,
  { kind, headers, body }: RequestMessage,
  context: FillingBodies,
): AtOnceOrLater<Part<FillingBodies> | undefined> {
  if (kind === 'opaque' || (!invocation.acting.caller && invocation.head.keys.apiKey === undefined)) return undefined;
  if (!Buffer.isBuffer(body)) return new StreamedBody({ kind, headers, body });
  const read = { kind, headers, body, charset: bodyCharset(kind, headers, body) };
  return isUtf16(read.charset) ? findInUtf16(invocation, read, context) : findInText(invocation, read, context);
}

/** Reads it as UTF-8, see {@link HeldBody}. */
async function findInUtf16(
  invocation: Invocation,
  read: ReadBody,
  context: FillingBodies,
): Promise<HeldBody | undefined> {
  await invocation.acting.memory.part('request').grow(read.body.length * copies);
  const text = read.charset?.decode(read.body);
  if (text !== undefined) return findInText(invocation, { ...read, body: Buffer.from(text) }, context);
  if (read.body.includes(openingInUtf16)) throw notUtf16();
  return undefined;
}

/** In both byte orders. */
const openingInUtf16 = Buffer.from('{\0{');

function findInText(
  invocation: Invocation,
  read: ReadBody,
  { workPieces, budgets }: FillingBodies,
): AtOnceOrLater<HeldBody | undefined> {
  const { kind, body } = read;
  // A part of a form may be in UTF-16, and is then refused
  if (!mayHoldExpression(body) && !(kind === 'multipart' && body.includes(openingInUtf16))) return undefined;
  if (!isLarge(body)) return bodyWith(read, placesIn(read, budgets.expressions));
  const found = workPieces.run(invocation.proxy.tenantId, placesInPieces(read, budgets.expressions));
  return Promise.resolve(found).then((places) => bodyWith(read, places));
}

function bodyWith(read: ReadBody, places: readonly Place[]): HeldBody | undefined {
  return places.length === 0 ? undefined : new HeldBody(read, places);
}

/** A body in memory. In UTF-16 it is filled as UTF-8 and encoded again. */
class HeldBody implements Part<FillingBodies> {
  readonly names = ['body'];
  readonly places: readonly Place[];
  readonly #read: ReadBody;

  constructor(read: ReadBody, places: readonly Place[]) {
    this.#read = read;
    this.places = places;
  }

  fault(): ServiceError | undefined {
    return charsetFault(this.#read.kind, this.#read.charset);
  }

  fill(message: RequestMessage, filling: Filling, context: FillingBodies): AtOnceOrLater<RequestMessage> {
    const { body, charset } = this.#read;
    const { places } = this;
    const { values, invocation } = filling;
    const limitBytes = context.bodyLimitBytes;
    // Each expression adds at most all that was decrypted and some padding, so most bodies need not be measured
    const most = expressionsOf(places) * (decryptedBytes(invocation.acting) + longestPadding);
    const isFew = most <= smallGrowth && !places.some(mayGrow);
    const grown = Math.min(body.length + (isFew ? most : mostTextIn(places, values)), limitBytes);
    if (isLarge(body) || grown > smallGrowth || isUtf16(charset))
      return this.#fillLarge(message, filling, { grown, context });
    const putIn = invocation.acting.guard?.values;
    return withBody(message, fillPlaces(body, places, { values, limitBytes, putIn }), invocation);
  }

  async #fillLarge(
    message: RequestMessage,
    { invocation, values }: Filling,
    { grown, context }: { grown: number; context: FillingBodies },
  ): Promise<RequestMessage> {
    const { body, charset } = this.#read;
    const { places } = this;
    const { proxy } = invocation;
    const limitBytes = context.bodyLimitBytes;
    const memory = invocation.acting.memory.part('request');
    const putIn = invocation.acting.guard?.values;
    await memory.grow((isUtf16(charset) ? 3 * grown : grown) * copies); // in UTF-16 a letter takes two bytes
    const filtered = await context.workPieces.run(
      proxy.tenantId,
      filterInPieces(places, { values, limitBytes, putIn }),
    );
    const utf8 = fillPlaces(body, places, { values, limitBytes, filtered });
    const filled = isUtf16(charset) ? (charset.encode(utf8.toString()) ?? utf8) : utf8;
    const isTransformed = proxy.requestTransform !== undefined;
    memory.shrinkTo(copies * filled.length, mostBytesOf({ length: filled.length, isTransformed }, context));
    return withBody(message, filled, invocation);
  }
}

/** The destination would refuse the new body if it came with the digest of the old one. */
function withBody(message: RequestMessage, body: Buffer, { request }: Invocation): RequestMessage {
  return { ...message, headers: withoutValidators(message.headers, request.headers), body, isBodyNew: true };
}

const mayGrow = ({ segments }: Place) =>
  segments.some((segment) => segment.kind === 'expression' && expressionMayGrow(segment));

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
