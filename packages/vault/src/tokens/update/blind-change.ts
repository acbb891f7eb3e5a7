import { ServiceError } from '@sluice/problems';
import { formatPath, type Path } from '../../expressions/path.ts';
import { filteredPathsIn, pathsIn } from '../../expressions/template.ts';
import { isObject, type Json, mapLeaves } from '../../json.ts';
import { type TokenTypeName, tokenTypeOf } from '../../types/token-types.ts';
import type { TokenRow } from '../token.ts';

/** A change of these leaves fingerprint and search indexes as they are. */
const partsOfCard = ['expiration_month', 'expiration_year', 'cvc'];
/** All that the type says about an account, so both together make fingerprint and search indexes anew. */
const account = ['routing_number', 'account_number'];

const whatMayChange =
  'no rule reveals this token to the key. The key may change only expiration_month, expiration_year and cvc of a card, and ' +
  'routing_number and account_number of a bank account, both in one patch. The key may also replace the whole data with a ' +
  'value that is not an object';

export function isPartOfCard({ type }: TokenRow, data: unknown): boolean {
  return type === 'card' && isObject(data);
}

/**
 * A caller who does not see the data could replace all of it but one member and then guess that one, through a
 * fingerprint, a search or the part that a mask shows. So it changes parts of which none of these is made, or all that
 * they are made of.
 * @throws {ServiceError} `forbidden`, whatever the stored data.
 */
export function requireBlindChange(token: TokenRow, data: Json): void {
  if (!isObject(data)) return; // it replaces everything
  const sent = Object.keys(data);
  const allowed = token.type === 'card' ? partsOfCard : token.type === 'bank' ? account : [];
  const other = sent.find((member) => !allowed.includes(member));
  const isWhole = token.type === 'card' || (sent.length > 0 && sent.length === allowed.length);
  if (other !== undefined || !isWhole) throw forbidden(other ?? sent[0], whatMayChange);
  const isGuessable = (path: Path) => {
    const [member] = path;
    return token.type === 'card'
      ? member === undefined || sent.includes(String(member))
      : !account.includes(String(member));
  };
  for (const { expressions, paths } of usesOf(token)) {
    const path = paths.find(isGuessable);
    if (!path) continue;
    const member = sent.find((name) => name === path[0]) ?? sent[0];
    throw forbidden(
      member,
      `${expressions} use this data. A key that does not see the data could change one part of it, to check guesses of the other parts. So only a key with a rule that reveals the token may change this data`,
    );
  }
}

/** Whether the token's fingerprint or a search index is made of this member of its data, so that guesses can be compared. */
export function isComparable(token: Derived, member: string): boolean {
  return derivedOf(token).some(({ paths }) => paths.some(([name = member]) => name === member));
}

type Derived = Pick<TokenRow, 'type' | 'fingerprint_expression' | 'search_indexes'>;

interface Use {
  expressions: string;
  paths: Path[];
}

function usesOf(token: TokenRow): Use[] {
  const masks: Path[] = [];
  mapLeaves(token.mask, (leaf) => {
    if (typeof leaf === 'string') masks.push(...filteredPathsIn(leaf));
    return leaf;
  });
  return [...derivedOf(token), { expressions: 'expressions with a filter in mask', paths: masks }];
}

function derivedOf({ type, fingerprint_expression, search_indexes }: Derived): Use[] {
  const fingerprint =
    fingerprint_expression ?? tokenTypeOf(type as TokenTypeName).fingerprintExpression ?? '{{ data }}';
  return [
    { expressions: 'expressions of fingerprint_expression', paths: pathsIn(fingerprint) },
    { expressions: 'expressions of search_indexes', paths: search_indexes.flatMap(pathsIn) },
  ];
}

function forbidden(member: string | undefined, detail: string): ServiceError {
  const name = formatPath(member === undefined ? ['data'] : ['data', member]).slice('$.'.length);
  return new ServiceError('forbidden', `${name}: ${detail}`);
}
