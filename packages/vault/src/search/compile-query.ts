import { canonicalContainer, containerPattern } from '@sluice/access';
import { sql } from 'kysely';
import { tokenTypeNames } from '../types/token-types.ts';
import { boundsOf } from './date-bounds.ts';
import type { Query, Range, Term } from './parse-query.ts';
import { type Condition, hasTerm } from './token-terms.ts';

export interface Compilation {
  tenantId: string;
  hashOf: (text: string) => string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const container = new RegExp(containerPattern);
/** The beginning of a container in canonical form. None of its characters is special in a pattern. */
const containerBeginning = /^\/?(?:[A-Za-z0-9_-]+\/)*[A-Za-z0-9_-]*$/;
const never = sql<boolean>`false`;

/** Values become parameters, never SQL. Each comparison is exact; the index term beside it only finds candidates. */
export function compileQuery(query: Query, compilation: Compilation): Condition {
  switch (query.kind) {
    case 'and':
    case 'or': {
      const operands = query.operands.map((operand) => compileQuery(operand, compilation));
      return sql<boolean>`(${sql.join(operands, query.kind === 'and' ? sql` and ` : sql` or `)})`;
    }
    case 'not':
      // `is not true` also matches null, because an unset member does not equal the value.
      return sql<boolean>`((${compileQuery(query.operand, compilation)}) is not true)`;
    case 'range':
      return compileRange(query);
    case 'term':
      return compileTerm(query, compilation);
  }
}

function compileRange({ field, from, to }: Range): Condition {
  return isBetween(field, boundsOf(from).first, boundsOf(to).last);
}

function isBetween(field: string, first: string, last: string): Condition {
  return sql<boolean>`${sql.ref(field)} between ${first}::timestamptz and ${last}::timestamptz`;
}

function compileTerm({ field, key, value, isPrefix }: Term, { tenantId, hashOf }: Compilation): Condition {
  const { text } = value;
  switch (field) {
    case 'id':
      return sql<boolean>`id = ${text}`;
    case 'type':
      return sql<boolean>`(type = ${text} and ${hasTerm(tenantId, [{ kind: 'type', value: text }])})`;
    case 'fingerprint':
      // The type is named, because the index on fingerprints begins with it.
      return sql<boolean>`(type = any(${[...tokenTypeNames]}::text[]) and fingerprint = ${text})`;
    case 'data': {
      const hash = hashOf(text);
      return sql<boolean>`(${hash} = any(search_hashes) and ${hasTerm(tenantId, [{ kind: 'data', value: hash }])})`;
    }
    case 'container':
      return compileContainer(text, isPrefix, tenantId);
    case 'metadata':
      return sql<boolean>`(
        metadata ->> ${key}::text = ${text} and ${hasTerm(tenantId, [{ kind: `metadata.${key}`, value: text }])}
      )`;
    case 'created_by':
    case 'modified_by': {
      if (!uuid.test(text)) return never;
      const id = text.toLowerCase();
      return sql<boolean>`(${sql.ref(field)} = ${id}::uuid and ${hasTerm(tenantId, [{ kind: field, value: id }])})`;
    }
    case 'created_at':
    case 'modified_at': {
      const { first, last } = boundsOf(value);
      return isBetween(field, first, last);
    }
  }
}

export function isInContainer(container: string, tenantId: string): Condition {
  return compileContainer(container, false, tenantId);
}

/** Containers hold no commas, so one pattern matches all of a token. A prefix that ends with a slash is a term. */
function compileContainer(text: string, isPrefix: boolean, tenantId: string): Condition {
  if (!(isPrefix ? containerBeginning : container).test(text)) return never;
  const wanted = isPrefix ? `/${text.replace(/^\//, '')}` : canonicalContainer(text);
  const parent = wanted.slice(0, wanted.lastIndexOf('/') + 1);
  const within = parent === '/' ? undefined : hasTerm(tenantId, [{ kind: 'container', value: parent }]);
  if (isPrefix && wanted === parent) return within ?? sql<boolean>`true`;
  const inner = wanted.slice(1).replace(/\/$/, '');
  const pattern = isPrefix ? `(^|,)/?${inner}` : inner === '' ? '(^|,)/(,|$)' : `(^|,)/?${inner}/?(,|$)`;
  const exact = sql<boolean>`array_to_string(containers, ',') ~ ${pattern}`;
  return within ? sql<boolean>`(${exact} and ${within})` : exact;
}
