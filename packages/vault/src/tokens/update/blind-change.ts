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
  'of data that it does not see a key may change expiration_month, expiration_year and cvc of a card, both numbers of a ' +
  'bank account together, or replace all data by a value that is no object';

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
      `${expressions} use this data, so only a key to which a rule reveals the token may change it`,
    );
  }
}

interface Use {
  expressions: string;
  paths: Path[];
}

function usesOf({ type, fingerprint_expression, search_indexes, mask }: TokenRow): Use[] {
  const fingerprint =
    fingerprint_expression ?? tokenTypeOf(type as TokenTypeName).fingerprintExpression ?? '{{ data }}';
  const masks: Path[] = [];
  mapLeaves(mask, (leaf) => {
    if (typeof leaf === 'string') masks.push(...filteredPathsIn(leaf));
    return leaf;
  });
  return [
    { expressions: 'expressions of fingerprint_expression', paths: pathsIn(fingerprint) },
    { expressions: 'expressions of search_indexes', paths: search_indexes.flatMap(pathsIn) },
    { expressions: 'expressions of mask with a filter', paths: masks },
  ];
}

function forbidden(member: string | undefined, detail: string): ServiceError {
  const name = formatPath(member === undefined ? ['data'] : ['data', member]).slice('$.'.length);
  return new ServiceError('forbidden', `${name}: ${detail}`);
}
