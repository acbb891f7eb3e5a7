import { decide } from '@sluice/access';
import { newFilterBudget } from '../../expressions/filter-budget.ts';
import { type Path, valueAt } from '../../expressions/path.ts';
import { filteredPathsIn, pathsIn } from '../../expressions/template.ts';
import { isObject, type Json, type JsonObject, mapLeaves } from '../../json.ts';
import { mergePatch } from '../../merge-patch.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { type DerivedTexts, deriveTexts } from '../create/derived-texts.ts';
import type { TokenInput } from '../create/read-token-input.ts';
import { withoutCvc } from '../expiry/cvc.ts';
import type { Actor, TokenRow } from '../token.ts';
import type { TokenPatch } from './read-token-patch.ts';

/** What fingerprint and search hashes are made of after a patch. Undefined: the stored ones stay. */
export type TextsAfter = { [Name in keyof DerivedTexts]: DerivedTexts[Name] | undefined };

interface Change {
  /** The data before. */
  data: Json;
  patch: TokenPatch;
  input: TokenInput;
}

export function textsAfter(actor: Actor, token: TokenRow, { data, patch, input }: Change): TextsAfter {
  const { fingerprint_expression, search_indexes, deduplicate_token } = patch;
  const sent = isObject(data) && isEmptyMerge(patch.data) ? undefined : (patch.data as Json | undefined);
  const isSeen = decide(actor, 'token:read', token) === 'reveal';
  const mayBeDivided = !isSeen || (token.blind_data_bytes > 0 && isObject(data));
  if (mayBeDivided && (sent === undefined || isObject(sent))) return textsAfterMerge(token, sent, { patch, input });
  const isDataSent = sent !== undefined;
  const isFingerprinted = isDataSent || fingerprint_expression !== undefined || deduplicate_token === true;
  return {
    fingerprintText: isFingerprinted ? input.fingerprintText : undefined,
    searchTexts: isDataSent || search_indexes !== undefined ? input.searchTexts : undefined,
  };
}

export function isEmptyMerge(data: unknown): boolean {
  return isObject(data) && Object.keys(data).length === 0;
}

/**
 * A caller who does not see the data could remove all but one member and then guess that one, by deduplication,
 * fingerprints or searches. So an expression over several members yields nothing once such a caller has sent some of
 * them, until a patch sends all of them: a caller who sees the data writes parts that others can predict.
 */
function textsAfterMerge(
  token: TokenRow,
  merged: JsonObject | undefined,
  { patch, input }: Omit<Change, 'data'>,
): TextsAfter {
  const { type, searchIndexes } = input;
  const lasting = withoutCvc(type, input.data);
  const effects = searchIndexes.map((index) => effectOn(index, merged));
  const ofSent = searchIndexes.filter((_, at) => effects[at] === 'sent');
  const isIndexed = patch.search_indexes !== undefined || effects.some((each) => each !== 'same');
  const ofRest = searchIndexes.filter(
    (index, at) => isIndexed && effects[at] === 'same' && wholeIn(index, lasting) !== undefined,
  );
  const expression = input.fingerprintExpression ?? tokenTypeOf(type).fingerprintExpression ?? '{{ data }}';
  const effect = effectOn(expression, merged);
  const isNew = (input.fingerprintExpression ?? null) !== token.fingerprint_expression;
  const isMissing = token.fingerprint === null && patch.deduplicate_token === true;
  const whole = effect === 'same' && (isNew || isMissing) ? wholeIn(expression, lasting) : undefined;
  const sent = withoutCvc(type, mergePatch({}, merged ?? {}));
  const budget = newFilterBudget();
  // First and of the sent data alone, so that neither the texts nor the work on them depend on the rest.
  const sentTexts = deriveTexts(
    { searchIndexes: ofSent, fingerprintExpression: effect === 'sent' ? expression : undefined },
    { value: sent, text: JSON.stringify(sent) },
    budget,
  );
  const restTexts = deriveTexts(
    { searchIndexes: ofRest, fingerprintExpression: whole === undefined ? undefined : expression },
    { value: lasting, text: JSON.stringify(whole ?? null) },
    budget,
  );
  const isKept = effect === 'same' && !isNew;
  return {
    fingerprintText: sentTexts.fingerprintText ?? restTexts.fingerprintText ?? (isKept ? undefined : ''),
    searchTexts: isIndexed ? [...new Set([...sentTexts.searchTexts, ...restTexts.searchTexts])] : undefined,
  };
}

/** Whether an expression that shows a part of a value would show another part of it once a merge has taken something away. */
export function dividesMask(mask: Json, patch: JsonObject): boolean {
  let isDivided = false;
  mapLeaves(mask, (leaf) => {
    const paths = typeof leaf === 'string' ? filteredPathsIn(leaf) : [];
    isDivided ||= paths.some((path) => effectAt(path, patch) === 'divided');
    return leaf;
  });
  return isDivided;
}

/** `divided`: some of what the expression names is sent, and some is not. */
type Effect = 'same' | 'sent' | 'divided';

function effectOn(expression: string, patch: JsonObject | undefined): Effect {
  if (patch === undefined) return 'same';
  const [effect = 'same', ...others] = new Set(pathsIn(expression).map((path) => effectAt(path, patch)));
  return others.length === 0 ? effect : 'divided';
}

function effectAt(path: Path, patch: JsonObject): Effect {
  let sent: Json = patch;
  for (const part of path) {
    if (!isObject(sent)) return 'sent';
    const next: Json | undefined = Object.hasOwn(sent, part) ? sent[part] : undefined;
    // A merge replaces a list, so what stood at a position in one may be gone.
    if (next === undefined) return typeof part === 'number' ? 'divided' : 'same';
    sent = next;
  }
  return isObject(sent) ? 'divided' : 'sent';
}

/** The one value that the expression names, if no merge can have divided it, because a merge divides objects only. */
function wholeIn(expression: string, data: Json): Json | undefined {
  const [path, ...others] = new Map(pathsIn(expression).map((each) => [JSON.stringify(each), each])).values();
  if (path === undefined || others.length > 0) return undefined;
  const value = valueAt(data, path) ?? null;
  return isObject(value) ? undefined : value;
}
