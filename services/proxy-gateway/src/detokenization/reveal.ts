import type { Readable } from 'node:stream';
import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import type { Pieces } from '@sluice/service-runtime';
import { longestPadding, openedBytes } from '@sluice/vault';
import { heldBody } from '../budgets/hold-body.ts';
import { openingOf } from '../budgets/opening.ts';
import { spendExpressions } from '../budgets/spend-expressions.ts';
import type { Context } from '../context.ts';
import { feed } from '../http/content-coding.ts';
import type { ContentKind } from '../http/content-type.ts';
import { isJsonInPieces } from '../http/is-json.ts';
import type { HeaderList } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { lookAgain } from '../proxies/look-again.ts';
import { askedIn, fillPlaces, filterInPieces, mostTextIn } from './detokenize.ts';
import { openTokens, recordDisclosure } from './disclose.ts';
import { findExpressions, findExpressionsInPieces, mayHoldExpression } from './find-expressions.ts';
import { boundaryOf } from './multipart/boundary.ts';
import { findInMultipart, findInMultipartInPieces } from './multipart/multipart-reader.ts';
import type { Asked, OpenedBody } from './opened-body.ts';
import { expressionsOf, type Place } from './place.ts';
import { RevealStream } from './stream/reveal-stream.ts';

interface ReadableBody<Body> {
  kind: Exclude<ContentKind, 'opaque'>;
  headers: HeaderList;
  body: Body;
}

/** Bodies up to this size are read and filled in one go, because that takes at most a few milliseconds. */
const largestPiece = 8 * 1024;
/** Values up to this size are covered by the bytes that were reserved for the body itself. */
const smallGrowth = 16 * 1024;

export function openExpressions(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  const { kind, headers, body } = invocation.message;
  if (kind === 'opaque' || (!invocation.caller && invocation.head.apiKey === undefined)) return undefined;
  if (!Buffer.isBuffer(body)) {
    const revealing = revealWhileStreaming(invocation, { kind, headers, body }, context);
    invocation.message = { kind, headers, body: revealing };
    return undefined;
  }
  if (!mayHoldExpression(body)) return undefined;
  const message = { kind, headers, body };
  const { tenantId } = invocation.proxy;
  const { expressions: most } = context.budgets;
  const places = isLarge(body)
    ? context.workPieces.run(tenantId, placesInPieces(message, most))
    : placesIn(message, most);
  return andThen(places, (found) => openPlaces(invocation, { body, places: found }, context));
}

function openPlaces(
  invocation: Invocation,
  { body, places }: Pick<OpenedBody, 'body' | 'places'>,
  context: Context,
): AtOnceOrLater<void> {
  if (places.length === 0) return undefined;
  spendExpressions(invocation, expressionsOf(places), context.budgets.expressions);
  return andThen(openTokens(invocation, askedIn(places), context), ({ caller, tokenIds, values }) => {
    invocation.opened = { body, places, caller, tokenIds, values };
  });
}

/** Records the disclosure of the opened tokens before any of their values leave the process. */
export function noteDisclosure(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  const { opened } = invocation;
  return opened && recordDisclosure(invocation, opened, context);
}

export function fillBody(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  const { opened, message } = invocation;
  if (!opened) return undefined;
  invocation.opened = undefined;
  const { body, places, values } = opened;
  const limitBytes = context.bodyLimitBytes;
  // Each expression adds at most all that was opened and some padding, so most bodies need not be measured
  const most = expressionsOf(places) * (openedBytes(openingOf(invocation, context)) + longestPadding);
  const grown = Math.min(body.length + (most <= smallGrowth ? most : mostTextIn(places, values)), limitBytes);
  if (isLarge(body) || grown > smallGrowth) return fillLargeBody(invocation, { ...opened, grown }, context);
  const filled = fillPlaces(body, places, { values, limitBytes });
  invocation.message = { kind: message.kind, headers: message.headers, body: filled };
  return undefined;
}

async function fillLargeBody(
  invocation: Invocation,
  { body, places, values, grown }: OpenedBody & { grown: number },
  context: Context,
): Promise<void> {
  const { message, proxy } = invocation;
  const limitBytes = context.bodyLimitBytes;
  const held = heldBody(invocation, 'request', context);
  await held.fill(grown);
  const filtered = await context.workPieces.run(proxy.tenantId, filterInPieces(places, { values, limitBytes }));
  const filled = fillPlaces(body, places, { values, limitBytes, filtered });
  held.has(filled.length, { isTransformed: proxy.requestTransform !== undefined });
  invocation.message = { kind: message.kind, headers: message.headers, body: filled };
}

function isLarge(body: Buffer): boolean {
  return body.length > largestPiece;
}

function placesIn({ kind, headers, body }: ReadableBody<Buffer>, most: number): Place[] {
  if (kind === 'multipart') return findInMultipart(body, boundaryOf(headers), most);
  return findExpressions(body, kind === 'none' && isJson(body) ? 'json' : kind, { most });
}

function* placesInPieces({ kind, headers, body }: ReadableBody<Buffer>, most: number): Pieces<Place[]> {
  if (kind === 'multipart') return yield* findInMultipartInPieces(body, boundaryOf(headers), most);
  if (kind !== 'none') return yield* findExpressionsInPieces(body, kind, { most });
  const latin1 = body.toString('latin1');
  return (yield* isJsonInPieces(latin1)) ? yield* findExpressionsInPieces(body, 'json', { most }) : [];
}

/** Looks at Proxy and key again for each window, because a long upload may outlive them. */
function revealWhileStreaming(
  invocation: Invocation,
  { kind, headers, body }: ReadableBody<Readable>,
  context: Context,
): Readable {
  const fetchValues = async (asked: Asked) => {
    await lookAgain(invocation, context);
    const opened = await openTokens(invocation, asked, context);
    await lookAgain(invocation, context, opened.caller);
    await recordDisclosure(invocation, opened, context);
    return opened.values;
  };
  const boundary = kind === 'multipart' ? boundaryOf(headers) : undefined;
  const { tenantId } = invocation.proxy;
  const stream = new RevealStream({
    kind,
    boundary,
    fetchValues,
    run: (work) => context.workPieces.run(tenantId, work),
    reserve: () => context.bodyBytes.open(tenantId, 'request', 0),
    limitBytes: context.bodyLimitBytes,
  });
  invocation.revealing = stream;
  return feed(body, stream);
}

/** A body without a content type is JSON if it parses. */
function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
