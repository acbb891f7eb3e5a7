import { canonicalContainer, decide } from '@sluice/access';
import fc from 'fast-check';
import type { Actor, Token } from '../index.ts';

export type ModelQuery =
  | { kind: 'and' | 'or'; left: ModelQuery; right: ModelQuery }
  | { kind: 'not'; operand: ModelQuery }
  | { kind: 'term'; field: string; value: string; isPrefix?: boolean }
  | { kind: 'range'; field: 'created_at' | 'modified_at'; from: string; to: string };

export interface ModelToken {
  token: Token;
  searchTexts: readonly string[];
}

const bare = /^[^\s"()[\]*]+$/;
const quote = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

export function writeQuery(query: ModelQuery, within: 'or' | 'and' | 'not' = 'or'): string {
  switch (query.kind) {
    case 'and':
    case 'or': {
      const { kind, left, right } = query;
      const text = `${writeQuery(left, kind)} ${kind.toUpperCase()} ${writeQuery(right, kind)}`;
      return within === kind || within === 'or' ? text : `(${text})`;
    }
    case 'not':
      return `NOT ${writeQuery(query.operand, 'not')}`;
    case 'range':
      return `${query.field}:[${query.from} TO ${query.to}]`;
    case 'term':
      if (query.isPrefix) return `${query.field}:${query.value}*`;
      return `${writeField(query.field)}:${bare.test(query.value) ? query.value : quote(query.value)}`;
  }
}

function writeField(field: string): string {
  const [, key] = /^metadata\.(.*)$/s.exec(field) ?? [];
  return key === undefined || bare.test(key) ? field : `metadata.${quote(key)}`;
}

/** Evaluates the query as the documentation says, without the product's code. */
export function matches(query: ModelQuery, one: ModelToken): boolean {
  switch (query.kind) {
    case 'and':
      return matches(query.left, one) && matches(query.right, one);
    case 'or':
      return matches(query.left, one) || matches(query.right, one);
    case 'not':
      return !matches(query.operand, one);
    case 'range':
      return isBetween(one.token[query.field], startOf(query.from), endOf(query.to));
    case 'term':
      return matchesTerm(query, one);
  }
}

function matchesTerm(
  { field, value, isPrefix }: { field: string; value: string; isPrefix?: boolean },
  { token, searchTexts }: ModelToken,
): boolean {
  if (field.startsWith('metadata.')) return token.metadata?.[field.slice('metadata.'.length)] === value;
  switch (field) {
    case 'data':
      return searchTexts.includes(value);
    case 'container': {
      const containers = token.containers.map(canonicalContainer);
      return isPrefix
        ? containers.some((container) => container.startsWith(value))
        : containers.includes(canonicalContainer(value));
    }
    case 'created_at':
    case 'modified_at':
      return isBetween(token[field], startOf(value), endOf(value));
    case 'created_by':
    case 'modified_by':
      return token[field] === value.toLowerCase();
    default:
      return token[field as 'id' | 'type' | 'fingerprint'] === value;
  }
}

const isDay = (date: string) => date.length === 10;
const startOf = (date: string) => Date.parse(date);
const endOf = (date: string) => Date.parse(isDay(date) ? `${date}T23:59:59.999Z` : date);
const isBetween = (moment: string | undefined, from: number, to: number) =>
  moment !== undefined && Date.parse(moment) >= from && Date.parse(moment) <= to;

export function isFindable(actor: Actor, { containers }: Token): boolean {
  return ['token:search', 'token:read'].every((permission) => decide(actor, permission, containers) !== undefined);
}

const segment = fc.constantFrom('a', 'b', 'ab', 'a-1');

export const anyContainer = fc
  .tuple(fc.array(segment, { maxLength: 3 }), fc.constantFrom('', '/'), fc.constantFrom('', '/'))
  .map(([segments, before, after]) => (segments.length === 0 ? '/' : `${before}${segments.join('/')}${after}`));

export const metadataKeys = ['k', 'customer', 'a key', 'quo"te'] as const;
export const searchableTexts = ['4242', '42', 'é 🂡', 'a "b" \\c', 'AND', '(x)*', "'--"] as const;

export function anyQuery(known: { ids: string[]; actors: string[]; fingerprints: string[]; moments: string[] }) {
  const term = (field: string, values: readonly string[]) =>
    fc.constantFrom(...values).map((value): ModelQuery => ({ kind: 'term', field, value }));
  const days = known.moments.map((moment) => moment.slice(0, 10));
  const dateField = fc.constantFrom('created_at' as const, 'modified_at' as const);
  const date = fc.constantFrom(...known.moments, ...days);
  const leaf = fc.oneof(
    term('id', [...known.ids, 'unknown']),
    term('type', ['token', 'card', 'bank', 'nope']),
    term('data', searchableTexts),
    term('fingerprint', [...known.fingerprints, 'x']),
    ...['created_by', 'modified_by'].map((field) => term(field, [...known.actors, 'no-uuid'])),
    ...metadataKeys.map((key) => term(`metadata.${key}`, searchableTexts)),
    anyContainer.map((value): ModelQuery => ({ kind: 'term', field: 'container', value })),
    fc.tuple(anyContainer, fc.nat({ max: 9 })).map(([container, length]): ModelQuery => {
      const value = canonicalContainer(container).slice(0, 1 + length);
      return { kind: 'term', field: 'container', value, isPrefix: true };
    }),
    fc.tuple(dateField, date).map(([field, value]): ModelQuery => ({ kind: 'term', field, value })),
    fc.tuple(dateField, date, date).map(([field, from, to]): ModelQuery => ({ kind: 'range', field, from, to })),
  );
  return fc.letrec<{ query: ModelQuery }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), left: tie('query'), right: tie('query') }),
      fc.record({ kind: fc.constant('not' as const), operand: tie('query') }),
    ),
  })).query;
}
