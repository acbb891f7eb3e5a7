import { decide } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { type Path, valueAt } from '../../expressions/path.ts';
import { filteredPathsIn, pathsIn } from '../../expressions/template.ts';
import { isObject, type Json, type JsonObject, mapLeaves } from '../../json.ts';
import { type TokenTypeName, tokenTypeOf } from '../../types/token-types.ts';
import type { Actor, TokenRow } from '../token.ts';
import type { TokenPatch } from './read-token-patch.ts';

export function isEmptyMerge(data: unknown): boolean {
  return isObject(data) && Object.keys(data).length === 0;
}

/** A merge into data by a caller to whom no rule reveals it. */
export function isBlindMerge(actor: Actor, token: TokenRow, { data }: TokenPatch): boolean {
  return isObject(data) && !isEmptyMerge(data) && decide(actor, 'token:read', token) !== 'reveal';
}

/**
 * A caller who does not see the data could replace all but one member and then guess that one, through a fingerprint, a
 * search or the part that a mask shows. So a blind merge must not touch data that these use, and none of them is
 * computed again.
 * @throws {ServiceError} `forbidden`, whatever the data.
 */
export function requireApart(token: TokenRow, merge: JsonObject): void {
  const fingerprint = fingerprintExpressionOf(token.type, token.fingerprint_expression);
  requireNoneTouched('fingerprint_expression', fingerprint, pathsIn(fingerprint), merge);
  for (const index of token.search_indexes) requireNoneTouched('search_indexes', index, pathsIn(index), merge);
  for (const text of textsOf(token.mask)) requireNoneTouched('mask', text, filteredPathsIn(text), merge);
}

/**
 * Blind merges changed no data that an expression used. A new expression must name one value that is no object, because
 * such a value is either old or wholly from the blind caller. In a mask this applies to expressions with a filter, which
 * could show part of an object that the blind caller wrote.
 * @throws {ServiceError} `conflict`, to a caller who sees the data.
 */
export function requireWholeValues(token: TokenRow, patch: TokenPatch, { data, mask }: After): void {
  if (token.blind_data_bytes === 0 || !isObject(data)) return;
  const { fingerprint_expression, search_indexes } = patch;
  if (fingerprint_expression !== undefined && fingerprint_expression !== token.fingerprint_expression) {
    const expression = fingerprintExpressionOf(token.type, fingerprint_expression);
    requireWholeValue('fingerprint_expression', expression, pathsIn(expression), data);
  }
  const added = (search_indexes ?? []).filter((index) => !token.search_indexes.includes(index));
  for (const index of added) requireWholeValue('search_indexes', index, pathsIn(index), data);
  if (patch.mask === undefined) return;
  const before = new Set(textsOf(token.mask));
  for (const text of textsOf(mask).filter((each) => !before.has(each))) {
    for (const path of filteredPathsIn(text)) requireWholeValue('mask', text, [path], data);
  }
}

/** State of the token after the patch. */
interface After {
  data: Json;
  mask: Json;
}

function textsOf(mask: Json): string[] {
  const texts: string[] = [];
  mapLeaves(mask, (leaf) => {
    if (typeof leaf === 'string') texts.push(leaf);
    return leaf;
  });
  return texts;
}

function requireNoneTouched(member: string, expression: string, paths: readonly Path[], merge: JsonObject): void {
  if (!paths.some((path) => isTouched(path, merge))) return;
  throw new ServiceError(
    'forbidden',
    `data: ${member} has ${expression}, and the patch would change what it is made of; only a key to which a rule reveals the ` +
      'token may do that',
  );
}

/** Whether a merge names the path, a parent or a child of it. */
function isTouched(path: Path, merge: JsonObject): boolean {
  let sent: Json = merge;
  for (const part of path) {
    if (!isObject(sent)) return true;
    const next: Json | undefined = Object.hasOwn(sent, part) ? sent[part] : undefined;
    // A merge replaces a list, so the value at a position in it may be gone.
    if (next === undefined) return typeof part === 'number';
    sent = next;
  }
  return true;
}

function requireWholeValue(member: string, expression: string, paths: readonly Path[], data: Json): void {
  const [path, ...others] = new Map(paths.map((each) => [JSON.stringify(each), each])).values();
  if (path !== undefined && others.length === 0 && !isObject(valueAt(data, path) ?? null)) return;
  throw new ServiceError(
    'conflict',
    `${member}: ${expression} must name one member that is no object, because a key that does not see this token has merged ` +
      'into its data; create the token anew for other expressions',
  );
}

function fingerprintExpressionOf(type: string, expression: string | null | undefined): string {
  return expression ?? tokenTypeOf(type as TokenTypeName).fingerprintExpression ?? '{{ data }}';
}
