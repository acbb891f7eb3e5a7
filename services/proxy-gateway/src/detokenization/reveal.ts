import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { RequestMessage } from '../http/message.ts';
import { spendExpressions } from '../limits/spend-expressions.ts';
import type { Invocation } from '../proxies/invocation.ts';
import type { Asked } from './asked.ts';
import { askedIn, guardUnfiltered, noTokens } from './detokenize.ts';
import { decryptAsApplication, decryptTokens, recordDisclosure, spendUsesOf } from './disclose.ts';
import { expressionsOf } from './place.ts';
import { type FillingBodies, findInBody } from './places/body.ts';
import { findInHeader } from './places/header.ts';
import type { Filling, Part } from './places/part.ts';
import { type RequestHeaders, requestHeadersOf, type SettingHeaders } from './places/request-headers.ts';
import { findInTarget } from './places/target.ts';

type Revealing = FillingBodies & SettingHeaders;
type FoundPart = Part<Revealing>;
type MaybePart = AtOnceOrLater<FoundPart | undefined>;

const bodyOnly: readonly string[] = ['body'];
const header = 'header:';

/**
 * Replaces the expressions of the message by the values of their tokens, and fills the headers that the Proxy sets. All
 * tokens are decrypted together, and disclosures are logged before any value leaves.
 */
export function revealMessage(
  invocation: Invocation,
  message: RequestMessage,
  context: Revealing,
): AtOnceOrLater<RequestMessage> {
  const own = requestHeadersOf(invocation.proxy);
  const found = findPlaces(invocation, message, context);
  return found || own ? revealParts(invocation, { message, found, own }, context) : message;
}

/**
 * Undefined, without a promise, for a message without an expression. Only the body may give a promise, so it comes last:
 * after a throw nobody would wait for it.
 */
function findPlaces(invocation: Invocation, message: RequestMessage, context: Revealing): MaybePart[] | undefined {
  const { tokenPlaces: searched = bodyOnly, allowedPaths } = invocation.proxy;
  const most = context.budgets.expressions;
  const found =
    searched === bodyOnly ? undefined : findInHead(searched, message, { most, isJudged: allowedPaths !== undefined });
  const inBody = searched.includes('body') ? findInBody(invocation, message, context) : undefined;
  if (!inBody) return found;
  return found ? [...found, inBody] : [inBody];
}

function findInHead(
  searched: readonly string[],
  message: RequestMessage,
  finding: { most: number; isJudged: boolean },
): FoundPart[] | undefined {
  const names = searched.filter((place) => place.startsWith(header)).map((place) => place.slice(header.length));
  const inHeaders = [...new Set(names.map((name) => name.toLowerCase()))].map((name) =>
    findInHeader(name, message, finding.most),
  );
  const parts = [findInTarget(searched, message, finding), ...inHeaders].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts;
}

interface Searched {
  message: RequestMessage;
  found: readonly MaybePart[] | undefined;
  /** Headers that the Proxy sets. */
  own: RequestHeaders | undefined;
}

async function revealParts(
  invocation: Invocation,
  { message, found = [], own }: Searched,
  context: Revealing,
): Promise<RequestMessage> {
  const parts: FoundPart[] = [];
  for (const finding of found) {
    const part = finding instanceof Promise ? await finding : finding;
    if (part) parts.push(part);
  }
  const asApplication = own && own.places.length > 0 && invocation.proxy.revealingApplicationId !== undefined;
  if (own && !asApplication) parts.unshift(own);
  const filling = await decryptFor(invocation, { parts, own: asApplication ? own : undefined }, context);
  let filled = asApplication ? await own.fill(message, { invocation, ...filling.own }, context) : message;
  for (const part of parts) {
    const next = part.fill(filled, { invocation, ...filling.parts }, context);
    filled = next instanceof Promise ? await next : next;
  }
  return filled;
}

interface Groups {
  /** Revealed with the rights of the caller. */
  parts: readonly FoundPart[];
  /** Revealed with the rights of the Proxy's Application. */
  own: RequestHeaders | undefined;
}

type Values = Omit<Filling, 'invocation'>;

const noValues: Values = { values: new Map(), otherTokens: noTokens };

/** One count of expressions and tokens for all parts, and one row of the log for each who reveals. */
async function decryptFor(
  invocation: Invocation,
  { parts, own }: Groups,
  context: Revealing,
): Promise<{ parts: Values; own: Values }> {
  const all = [...parts, ...(own ? [own] : [])].filter(({ places }) => places.length > 0);
  if (all.length === 0) return { parts: noValues, own: noValues };
  const count = all.reduce((sum, { places }) => sum + expressionsOf(places), 0);
  spendExpressions(invocation.acting, count, context.budgets.expressions);
  const ofCaller = all.filter((part) => part !== own);
  const askedByOwn = own && askedOf([own]);
  const otherTokens = askedByOwn ? new Set(askedByOwn.tokenIds) : noTokens;
  const asked = ofCaller.length > 0 ? askedOf(ofCaller, otherTokens) : undefined;
  const revealed = asked && { ...(await decryptTokens(invocation, asked, context)), places: namesOf(ofCaller) };
  const revealedByOwn = own &&
    askedByOwn && { ...(await decryptAsApplication(invocation, askedByOwn, context)), places: own.names };
  const { guard } = invocation.acting;
  for (const { places } of ofCaller) guardUnfiltered(places, revealed?.values ?? noValues.values, guard);
  if (own) guardUnfiltered(own.places, revealedByOwn?.values ?? noValues.values, guard);
  const spent = spendUsesOf(invocation, revealed, revealedByOwn, context);
  if (spent) await spent;
  const recorded = [revealed, revealedByOwn].map((each) => each && recordDisclosure(invocation, each, context.vault));
  if (recorded.some((record) => record)) await Promise.all(recorded);
  return {
    parts: { values: revealed?.values ?? noValues.values, otherTokens },
    own: { values: revealedByOwn?.values ?? noValues.values, otherTokens: noTokens },
  };
}

function namesOf(parts: readonly FoundPart[]): string[] {
  return parts.flatMap(({ names }) => names);
}

function askedOf(parts: readonly FoundPart[], otherTokens = noTokens): Asked {
  const places = parts.flatMap((part) => part.places);
  const asked = askedIn(places, undefined, otherTokens);
  if (asked.fault) return asked;
  for (const part of parts) {
    const fault = part.fault?.();
    if (fault) return { ...asked, fault };
  }
  return asked;
}
