import { canonicalContainer, containerPattern } from '@sluice/access';
import { parseDate } from '@sluice/database';
import { sql } from 'kysely';
import { tokenTypeNames } from '../types/token-types.ts';
import type { Query, Range, Term, Text } from './parse-query.ts';
import { queryFault } from './query-reader.ts';
import { type Condition, hasTerm, hasTerms, type IndexTerm } from './token-terms.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** ISO 8601. A date without a time means its UTC day. */
function boundsOf({ text, at }: Text): { first: string; last: string } {
  const moment = parseDate(text);
  if (!moment) throw queryFault(at, 'expected an ISO 8601 date');
  const isDay = text.length === 'YYYY-MM-DD'.length;
  const last = isDay ? new Date(moment.getTime() + dayMs - 1) : moment;
  return { first: moment.toISOString(), last: last.toISOString() };
}

export interface Compilation {
  tenantId: string;
  hashOf: (text: string) => string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const container = new RegExp(containerPattern);
/** The beginning of a container in canonical form. None of its characters is special in a pattern. */
const containerBeginning = /^\/?(?:[A-Za-z0-9_-]+\/)*[A-Za-z0-9_-]*$/;
const never = sql<boolean>`false`;

/**
 * Values become parameters, never SQL. Each comparison is exact; the index term beside it only finds candidates.
 *
 * Metadata and search terms of a token can have a mebibyte, which Postgres reads again for each comparison. So a query
 * that compares them more than once is evaluated in a sub-query that has read both. An index cannot serve a sub-query,
 * so a condition that an index serves, and that all matches meet, is added.
 */
export function compileQuery(query: Query, compilation: Compilation): Condition {
  const exact = compileExact(query, compilation);
  if (countIndexed(query, compilation) < 2) return exact;
  // `offset 0` keeps Postgres from inlining these expressions at each use. Concatenating '' makes Postgres read a value
  // whole.
  const evaluated = sql<boolean>`(
    select ${exact} from (select metadata || '{}'::jsonb as metadata, search_terms || '{}'::bigint[] as search_terms offset 0) as read
  )`;
  const candidates = compileCandidates(query, compilation);
  return candidates ? sql<boolean>`(${candidates} and ${evaluated})` : evaluated;
}

function countIndexed(query: Query, compilation: Compilation): number {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.operands.reduce((sum, operand) => sum + countIndexed(operand, compilation), 0);
    case 'not':
      return countIndexed(query.operand, compilation);
    case 'range':
      return 0;
    case 'term':
      return indexTermOf(query, compilation) ? 1 : 0;
  }
}

/** A condition that an index serves and that all matches meet; undefined if there is none. */
function compileCandidates(query: Query, compilation: Compilation): Condition | undefined {
  if (query.kind === 'not') return undefined;
  if (query.kind === 'range') return compileRange(query);
  if (query.kind === 'term') {
    const term = indexTermOf(query, compilation);
    return term ? hasTerm(compilation.tenantId, [term]) : compileTerm(query, compilation);
  }
  const isAll = query.kind === 'and';
  const terms = query.operands.flatMap((each) => (each.kind === 'term' && indexTermOf(each, compilation)) || []);
  const others = query.operands
    .filter((each) => each.kind !== 'term' || !indexTermOf(each, compilation))
    .map((each) => compileCandidates(each, compilation));
  if (!isAll && others.includes(undefined)) return undefined;
  const ofTerms = terms.length > 0 ? [(isAll ? hasTerms : hasTerm)(compilation.tenantId, terms)] : [];
  const all = [...ofTerms, ...others.flatMap((each) => each ?? [])];
  return all.length > 0 ? sql<boolean>`(${sql.join(all, isAll ? sql` and ` : sql` or `)})` : undefined;
}

function compileExact(query: Query, compilation: Compilation): Condition {
  switch (query.kind) {
    case 'and':
    case 'or': {
      const operands = query.operands.map((operand) => compileExact(operand, compilation));
      return sql<boolean>`(${sql.join(operands, query.kind === 'and' ? sql` and ` : sql` or `)})`;
    }
    case 'not':
      // `is not true` also matches null, because an unset member does not equal the value.
      return sql<boolean>`((${compileExact(query.operand, compilation)}) is not true)`;
    case 'range':
      return compileRange(query);
    case 'term': {
      const comparison = compileTerm(query, compilation);
      const term = indexTermOf(query, compilation);
      // The term comes first, because it is smaller than the metadata.
      return term ? sql<boolean>`(${hasTerm(compilation.tenantId, [term])} and ${comparison})` : comparison;
    }
  }
}

function compileRange({ field, from, to }: Range): Condition {
  return isBetween(field, boundsOf(from).first, boundsOf(to).last);
}

function isBetween(field: string, first: string, last: string): Condition {
  return sql<boolean>`${sql.ref(field)} between ${first}::timestamptz and ${last}::timestamptz`;
}

/** Undefined for a field without an index of terms, and for a term that no token has. */
function indexTermOf({ field, key, value, isPrefix }: Term, { hashOf }: Compilation): IndexTerm | undefined {
  const { text } = value;
  switch (field) {
    case 'type':
      return { kind: field, value: text };
    case 'data':
      return { kind: field, value: hashOf(text) };
    case 'metadata':
      return { kind: `metadata.${key}`, value: text };
    case 'created_by':
    case 'modified_by':
      return uuid.test(text) ? { kind: field, value: text.toLowerCase() } : undefined;
    case 'container':
      return containerTermOf(text, isPrefix);
    default:
      return undefined;
  }
}

function compileTerm({ field, key, value, isPrefix }: Term, { hashOf }: Compilation): Condition {
  const { text } = value;
  switch (field) {
    case 'id':
      return sql<boolean>`id = ${text}`;
    case 'type':
      return sql<boolean>`type = ${text}`;
    case 'fingerprint':
      // The type is named, because the index on fingerprints begins with it.
      return sql<boolean>`(type = any(${[...tokenTypeNames]}::text[]) and fingerprint = ${text})`;
    case 'data':
      return sql<boolean>`${hashOf(text)} = any(search_hashes)`;
    case 'container':
      return compileContainer(text, isPrefix);
    case 'metadata':
      return sql<boolean>`metadata ->> ${key}::text = ${text}`;
    case 'created_by':
    case 'modified_by':
      return uuid.test(text) ? sql<boolean>`${sql.ref(field)} = ${text.toLowerCase()}::uuid` : never;
    case 'created_at':
    case 'modified_at': {
      const { first, last } = boundsOf(value);
      return isBetween(field, first, last);
    }
  }
}

export function isInContainer(container: string, tenantId: string): Condition {
  const term = containerTermOf(container, false);
  const exact = compileContainer(container, false);
  return term ? sql<boolean>`(${exact} and ${hasTerm(tenantId, [term])})` : exact;
}

/** Absolute; undefined for text with which no container begins. */
function readContainer(text: string, isPrefix: boolean): { wanted: string; parent: string } | undefined {
  if (!(isPrefix ? containerBeginning : container).test(text)) return undefined;
  const wanted = isPrefix ? `/${text.replace(/^\//, '')}` : canonicalContainer(text);
  return { wanted, parent: wanted.slice(0, wanted.lastIndexOf('/') + 1) };
}

function containerTermOf(text: string, isPrefix: boolean): IndexTerm | undefined {
  const { parent = '/' } = readContainer(text, isPrefix) ?? {};
  return parent === '/' ? undefined : { kind: 'container', value: parent };
}

/** Containers have no commas, so one pattern matches all of a token. A prefix that ends with a slash is a term. */
function compileContainer(text: string, isPrefix: boolean): Condition {
  const read = readContainer(text, isPrefix);
  if (!read) return never;
  const { wanted, parent } = read;
  if (isPrefix && wanted === parent) return sql<boolean>`true`;
  const inner = wanted.slice(1).replace(/\/$/, '');
  const pattern = isPrefix ? `(^|,)/?${inner}` : inner === '' ? '(^|,)/(,|$)' : `(^|,)/?${inner}/?(,|$)`;
  return sql<boolean>`array_to_string(containers, ',') ~ ${pattern}`;
}
