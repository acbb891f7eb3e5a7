import { containerForm, containerPattern } from '@sluice/access';
import { parseDate } from '@sluice/database';
import {
  type FieldErrors,
  faultInWords,
  nearMisses,
  type SchemaFault,
  ServiceError,
  validationFailed,
} from '@sluice/problems';
import { Ajv, type ErrorObject } from 'ajv';
import { hasExactNumbers, inexact } from '../../exact-numbers.ts';
import { type FilterBudget, requireFilled, requireUnspent } from '../../expressions/filter-budget.ts';
import { countExpressions, fillTemplate, tooLarge } from '../../expressions/template.ts';
import { toText } from '../../expressions/to-text.ts';
import { isNestedDeeperThan, isObject, isStorable, type Json, type JsonObject, unstorable } from '../../json.ts';
import { checkMembers, checkTokenData, type TokenTypeName, tokenTypeOf } from '../../types/token-types.ts';
import { withoutCvc } from '../expiry/cvc.ts';
import { isNewTokenId, tokenIdForm } from '../token-id.ts';
import { tokenUseForms } from '../use/token-use.schema.ts';
import type { TokenUse } from '../use/token-use.ts';
import { misspeltInUse, readUseMember, withoutNullsInUse } from '../use/use-member.ts';
import { type TokenInputWire, tokenInputSchema } from './token-input.schema.ts';

export interface TokenInput {
  id: string | undefined;
  type: TokenTypeName;
  data: Json;
  dataText: string;
  /** `data` without its `cvc`, as JSON. */
  lastingText: string;
  mask: Json;
  containers: string[];
  metadata: Record<string, string>;
  searchIndexes: string[];
  searchTexts: string[];
  fingerprintExpression: string | undefined;
  /** Empty if the expression yields nothing; then there is no fingerprint. */
  fingerprintText: string;
  /** Undefined: the Tenant's setting decides. */
  deduplicate: boolean | undefined;
  expiresAt: string | undefined;
  use: TokenUse | null;
}

export interface DerivedTexts {
  /** Distinct results of the search indexes, without empty ones and those over 1 MiB. */
  searchTexts: string[];
  fingerprintText: string | undefined;
}

export interface InputReading {
  now: Date;
  budget: FilterBudget;
  /** Members that are not checked, because the caller does not change them or would learn something about them. */
  unjudged?: ReadonlySet<Judged>;
  /** Members of `data` that are checked by themselves, because the caller does not see the rest. */
  parts?: JsonObject | undefined;
}

/** `templates`: the size of their results. */
export type Judged = 'data' | 'metadata' | 'templates';

export const mebibyte = 1024 * 1024;
export const deepestJson = 500;

export const nestedTooDeeply = `is nested deeper than ${deepestJson} levels`;
const mostExpressions = 50;
/** Read-only members, which may be sent back. */
export const answeredMembers = [
  ...['tenant_id', 'fingerprint', 'uses', 'created_by', 'created_at', 'modified_by', 'modified_at'],
];
const members = { writable: Object.keys(tokenInputSchema.properties), readOnly: answeredMembers };
/** Of the schemas of this package. */
export const formats = { uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i };
const validateAll = new Ajv({ allErrors: true, formats }).compile<TokenInputWire>(tokenInputSchema);
const validateToFirst = new Ajv({ formats }).compile<TokenInputWire>(tokenInputSchema);
/** With more members only the first fault is reported, because each takes some microseconds. */
const mostMembers = 100;

/** Null counts as absent, except for `data`. `path` is the position of the input in the body; all faults begin with it. */
export function readTokenInput(value: unknown, path: string, reading: InputReading): TokenInput {
  const wire = withoutNulls(value);
  // The schema allows no other member to be nested.
  const isTooDeep = isObject(wire) && isNestedDeeperThan(deepestJson, [wire.data, wire.mask]);
  refuse(path, isTooDeep ? { '': [nestedTooDeeply] } : {});
  const isExact = !isObject(wire) || hasExactNumbers(wire.data);
  refuse(path, isExact ? {} : { data: [inexact] });
  refuse(path, isObject(wire) ? { ...nearMisses(wire, members), ...misspeltInUse(wire.use) } : {});
  const validate = hasManyMembers(wire) ? validateToFirst : validateAll;
  if (!validate(wire)) throw faultsAt(path, schemaFaults(validate.errors ?? []));
  const type = wire.type ?? 'token';
  const data = wire.data as Json;
  const dataText = JSON.stringify(data);
  const isJudged = (what: Judged) => reading.unjudged?.has(what) !== true;
  if (isJudged('data')) requireMebibyte('data', dataText);
  const metadataText = wire.metadata ? JSON.stringify(wire.metadata) : '';
  if (isJudged('metadata')) requireMebibyte('metadata', metadataText);
  const dataFaults = isJudged('data') ? checkTokenData(type, data) : checkMembers(type, reading.parts ?? {});
  const { use, faults: useFaults } = readUseMember(wire.use, reading.now);
  const faults = { ...dataFaults, ...memberFaults(wire, metadataText, reading), ...useFaults };
  if (isJudged('templates')) requireFilled(reading.budget);
  refuse(path, faults);
  // Hashes outlive the cvc, and a hash of three digits is easily guessed.
  const lasting = withoutCvc(type, data);
  const lastingText = lasting === data ? dataText : JSON.stringify(lasting);
  const { search_indexes: searchIndexes = [], fingerprint_expression: fingerprintExpression } = wire;
  const derived = deriveTexts(
    { searchIndexes, fingerprintExpression },
    { value: lasting, text: lastingText },
    reading.budget,
  );
  const input: TokenInput = {
    id: wire.id,
    type,
    data,
    dataText,
    lastingText,
    mask: (wire.mask as Json | undefined) ?? tokenTypeOf(type).defaultMask,
    containers: wire.containers ?? [tokenTypeOf(type).defaultContainer],
    metadata: wire.metadata ?? {},
    searchIndexes,
    searchTexts: derived.searchTexts,
    fingerprintExpression,
    fingerprintText: derived.fingerprintText ?? tokenTypeOf(type).fingerprint(data),
    deduplicate: wire.deduplicate_token,
    expiresAt: wire.expires_at === undefined ? undefined : parseDate(wire.expires_at)?.toISOString(),
    use,
  };
  if (isJudged('templates')) requireUnspent(reading.budget);
  return input;
}

function requireMebibyte(member: string, text: string): void {
  if (Buffer.byteLength(text) > mebibyte) {
    throw new ServiceError('payload_too_large', `${member} may have at most 1 MiB`, { limit: 'data_size' });
  }
}

export function hasManyMembers(wire: unknown): boolean {
  return isObject(wire) && [wire.metadata, wire.containers, wire.search_indexes].some(isLong);
}

function isLong(member: Json | undefined): boolean {
  return (Array.isArray(member) ? member : Object.keys(isObject(member) ? member : {})).length > mostMembers;
}

function memberFaults(
  { data, metadata: _, ...wire }: TokenInputWire,
  metadataText: string,
  { now, budget, unjudged }: InputReading,
): FieldErrors {
  const faults: FieldErrors = {};
  const fill = (template: Json) => fillTemplate(template, data as Json, budget);
  if (!isStorable(metadataText)) faults.metadata = [unstorable];
  for (const [member, value] of Object.entries(wire)) {
    if (!isStorable(JSON.stringify(value))) faults[member] = [unstorable];
  }
  if (wire.id !== undefined && !isNewTokenId(wire.id)) faults.id = [tokenIdForm];
  if (unjudged?.has('templates') !== true) {
    noteTemplateFault(faults, { member: 'mask', template: wire.mask as Json | undefined, fill });
    noteTemplateFault(faults, { member: 'fingerprint_expression', template: wire.fingerprint_expression, fill });
    wire.search_indexes?.forEach((expression, i) => {
      noteTemplateFault(faults, { member: `search_indexes[${i}]`, template: expression, fill });
    });
  }
  const expiresAt = wire.expires_at === undefined ? undefined : (parseDate(wire.expires_at) ?? 'unreadable');
  if (expiresAt === 'unreadable') faults.expires_at = ['must be an ISO 8601 date'];
  else if (expiresAt && expiresAt <= now) faults.expires_at = ['must be in the future'];
  return faults;
}

interface TemplateMember {
  member: string;
  template: Json | undefined;
  fill: (template: Json) => ReturnType<typeof fillTemplate>;
}

/** Fills the template once, so that a result that is too large is refused now and not at a read. */
function noteTemplateFault(faults: FieldErrors, { member, template, fill }: TemplateMember): void {
  if (template === undefined) return;
  try {
    const count = countExpressions(template);
    if (count > mostExpressions) faults[member] = [`may have at most ${mostExpressions} expressions`];
    else if (member !== 'mask' && count === 0) faults[member] = ['must have an expression such as {{ data.number }}'];
    else if (isOverMebibyte(fill(template))) faults[member] = ['evaluates to more than 1 MiB'];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    faults[member] = [error.detail];
  }
}

function isOverMebibyte(filled: ReturnType<typeof fillTemplate>): boolean {
  return filled === tooLarge || Buffer.byteLength(JSON.stringify(filled ?? null)) > mebibyte;
}

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([name, member]) => member !== null || name === 'data');
  return Object.fromEntries(
    present.map(([name, member]) => [name, name === 'use' ? withoutNullsInUse(member) : member]),
  );
}

/** By path, without repeating a value. */
export function schemaFaults(errors: readonly ErrorObject[]): FieldErrors {
  const faults: FieldErrors = {};
  for (const { instancePath, keyword, params, message } of errors) {
    const member = instancePath
      .slice(1)
      .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
      .replaceAll('/', '.');
    if (keyword === 'required') faults[params.missingProperty] = ['is required'];
    else if (keyword === 'additionalProperties') {
      faults[joinPath(member, params.additionalProperty)] = ['is not a known field'];
    } else faults[member] = [wordsOf({ keyword, params, message })];
  }
  return faults;
}

const forms: Readonly<Record<string, string>> = { [containerPattern]: containerForm, ...tokenUseForms };

function wordsOf({ keyword, params, message }: SchemaFault): string {
  if (keyword === 'format') return 'must be a UUID';
  return forms[`${params.pattern}`] ?? faultInWords({ keyword, params, message });
}

function refuse(path: string, faults: FieldErrors): void {
  if (Object.keys(faults).length > 0) throw faultsAt(path, faults);
}

function faultsAt(path: string, faults: FieldErrors): ServiceError {
  const prefixed = Object.entries(faults).map(([member, messages]) => [joinPath(path, member), messages]);
  return validationFailed(Object.fromEntries(prefixed));
}

/** `cards[0]` and `data.number` → `cards[0].data.number` */
function joinPath(path: string, member: string): string {
  return path === '' || member === '' ? `${path}${member}` : `${path}.${member}`;
}

interface Expressions {
  searchIndexes: readonly string[];
  fingerprintExpression: string | undefined;
}

/** `data` is the data without its `cvc`. */
function deriveTexts(
  { searchIndexes, fingerprintExpression }: Expressions,
  data: { value: Json; text: string },
  budget: FilterBudget,
): DerivedTexts {
  const textOf = (expression: string) => {
    const filled = fillTemplate(expression, data.value, budget);
    return filled === tooLarge ? tooLarge : toText(filled);
  };
  const searchTexts = new Set<string>();
  for (const expression of searchIndexes) {
    const text = textOf(expression);
    if (text !== tooLarge && text !== '') searchTexts.add(text);
  }
  const own = fingerprintExpression === undefined ? undefined : textOf(fingerprintExpression);
  // If the expression takes too much work, all data is fingerprinted, because a missing fingerprint would reveal its
  // size.
  const isWhole = own === tooLarge || (own !== undefined && budget.remaining < 0);
  return { searchTexts: [...searchTexts], fingerprintText: isWhole ? `\0${data.text}` : own };
}
