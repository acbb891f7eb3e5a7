/** Checks what a transform returned. The Tenant's code has run by then, as `main.js` says. */
import { stringify } from './host.js';

const { isArray } = Array;
const { getOwnPropertyNames, getPrototypeOf, prototype: plain } = Object;
const { apply } = Reflect;
const sliceText = String.prototype.slice;
const GuestTypeError = TypeError;

const mostNames = 10;
const longestName = 60;
const ofTransform = '; it must return { body, headers }, each of them optional';
const ofReactor = '; it must return { raw, body, headers, tokenize }, each of them optional';

/**
 * A transform that returns the body itself would pass on the original, which it was meant to hide.
 * @param {unknown} result
 * @param {Record<string, unknown>} sent `method`, `path` and `query` as received
 * @returns {asserts result is { body?: unknown, headers?: unknown }}
 */
export function checkResult(result, sent) {
  if (typeof result !== 'object' || result === null || isArray(result)) throw unusable(kindOf(result));
  const prototype = getPrototypeOf(result);
  const isPlain = prototype === plain || prototype === null;
  const members = /** @type {Record<string, unknown>} */ (result);
  const others = namesIn(members, (name) => name === 'body' || name === 'headers' || isUnchanged(name, members, sent));
  // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
  if (isPlain && others !== '') throw unusable('an object with ' + others);
  const hasPart = 'body' in members || 'headers' in members;
  if (!isPlain && !hasPart) throw unusable('an object of a class');
  // biome-ignore lint/style/useTemplate: as above
  if (!isPlain && others !== '') throw unusable('an object of a class with ' + others);
  if ('body' in members && members.body === undefined) throw unusable('a body that is undefined');
  if ('headers' in members && members.headers === undefined) throw unusable('headers that are undefined');
}

/**
 * A member of another name would otherwise be lost silently.
 * @param {unknown} result
 * @returns {asserts result is { raw?: unknown, body?: unknown, headers?: unknown, tokenize?: unknown }}
 */
export function checkReactorResult(result) {
  if (typeof result !== 'object' || result === null || isArray(result)) throw unusableOfReactor(kindOf(result));
  const others = namesIn(
    /** @type {Record<string, unknown>} */ (result),
    (name) => name === 'raw' || name === 'body' || name === 'headers' || name === 'tokenize',
  );
  // biome-ignore lint/style/useTemplate: as above
  if (others !== '') throw unusableOfReactor('an object with ' + others);
}

/**
 * The unknown names of members, for an error.
 * @param {Record<string, unknown>} members
 * @param {(name: string) => boolean} isKnown
 */
function namesIn(members, isKnown) {
  const names = getOwnPropertyNames(members);
  let count = 0;
  let shown = '';
  for (let at = 0; at < names.length; at += 1) {
    const name = /** @type {string} */ (names[at]);
    if (isKnown(name)) continue;
    count += 1;
    if (count > mostNames) continue;
    shown += (count === 1 ? '' : ', ') + stringify(apply(sliceText, name, [0, longestName]));
  }
  // biome-ignore lint/style/useTemplate: as above
  return count > mostNames ? shown + ' and other members' : shown;
}

/** @param {string} name @param {Record<string, unknown>} members @param {Record<string, unknown>} sent */
function isUnchanged(name, members, sent) {
  if (name !== 'method' && name !== 'path' && name !== 'query') return false;
  return sent[name] !== undefined && members[name] === sent[name];
}

/** @param {unknown} result */
function kindOf(result) {
  if (result === undefined) return 'nothing';
  if (result === null) return 'null';
  // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
  return isArray(result) ? 'an array' : 'a ' + typeof result;
}

/** @param {string} what */
function unusable(what) {
  // biome-ignore lint/style/useTemplate: QuickJS makes a template a call of String.prototype.concat
  return new GuestTypeError('the transform returned ' + what + ofTransform);
}

/** @param {string} what */
function unusableOfReactor(what) {
  // biome-ignore lint/style/useTemplate: as above
  return new GuestTypeError('the reactor returned ' + what + ofReactor);
}
