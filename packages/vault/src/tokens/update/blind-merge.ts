import { decide } from '@sluice/access';
import { newFilterBudget } from '../../expressions/filter-budget.ts';
import { type Path, valueAt } from '../../expressions/path.ts';
import { pathsIn } from '../../expressions/template.ts';
import { isObject, type Json, type JsonObject } from '../../json.ts';
import { mergePatch } from '../../merge-patch.ts';
import { tokenTypeOf } from '../../types/token-types.ts';
import { type DerivedTexts, deriveTexts } from '../create/derived-texts.ts';
import type { TokenInput } from '../create/read-token-input.ts';
import { withoutCvc } from '../expiry/cvc.ts';
import type { Actor, TokenRow } from '../token.ts';
import type { TokenPatch } from './read-token-patch.ts';

/** What fingerprint and search hashes are made of after a patch. Undefined: the stored ones stay. */
export type TextsAfter = { [Name in keyof DerivedTexts]: DerivedTexts[Name] | undefined };

export function textsAfter(actor: Actor, token: TokenRow, patch: TokenPatch, input: TokenInput): TextsAfter {
  const { fingerprint_expression, search_indexes, deduplicate_token } = patch;
  const data = patch.data as Json | undefined;
  if (isObject(data) && decide(actor, 'token:read', token) !== 'reveal') return textsAfterBlindMerge(data, input);
  const isDataSent = data !== undefined;
  const isFingerprinted = isDataSent || fingerprint_expression !== undefined || deduplicate_token === true;
  return {
    fingerprintText: isFingerprinted ? input.fingerprintText : undefined,
    searchTexts: isDataSent || search_indexes !== undefined ? input.searchTexts : undefined,
  };
}

/**
 * A caller who does not see the data could remove all but one member and then guess that one, by deduplication,
 * fingerprints or searches. So an expression over several members yields nothing once such a caller has sent some of them.
 */
function textsAfterBlindMerge(patch: JsonObject, input: TokenInput): TextsAfter {
  const { type, searchIndexes } = input;
  const lasting = withoutCvc(type, input.data);
  const effects = searchIndexes.map((index) => effectOn(index, patch));
  const ofSent = searchIndexes.filter((_, at) => effects[at] === 'sent');
  const ofRest = searchIndexes.filter((index, at) => effects[at] === 'same' && isOneWhole(index, lasting));
  const expression = input.fingerprintExpression ?? tokenTypeOf(type).fingerprintExpression;
  const effect = expression === undefined ? 'divided' : effectOn(expression, patch);
  const sent = withoutCvc(type, mergePatch({}, patch));
  const budget = newFilterBudget();
  // First and of the sent data alone, so that neither the texts nor the work on them depend on the rest.
  const sentTexts = deriveTexts(
    { searchIndexes: ofSent, fingerprintExpression: effect === 'sent' ? expression : undefined },
    { value: sent, text: JSON.stringify(sent) },
    budget,
  );
  const restTexts = deriveTexts(
    { searchIndexes: ofRest, fingerprintExpression: undefined },
    { value: lasting, text: input.lastingText },
    budget,
  );
  return {
    fingerprintText: effect === 'same' ? undefined : (sentTexts.fingerprintText ?? ''),
    searchTexts: effects.every((each) => each === 'same')
      ? undefined
      : [...new Set([...sentTexts.searchTexts, ...restTexts.searchTexts])],
  };
}

/** `divided`: some of what the expression names is sent, and some is not. */
type Effect = 'same' | 'sent' | 'divided';

function effectOn(expression: string, patch: JsonObject): Effect {
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

/** No earlier merge has divided it, because a merge divides objects only. */
function isOneWhole(expression: string, data: Json): boolean {
  const [path, ...others] = new Map(pathsIn(expression).map((each) => [JSON.stringify(each), each])).values();
  return path !== undefined && others.length === 0 && !isObject(valueAt(data, path));
}
