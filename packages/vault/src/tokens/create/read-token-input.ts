import { type FieldErrors, faultInWords, ServiceError, validationFailed } from '@sluice/problems';
import { Ajv, type ErrorObject } from 'ajv';
import { type FilterBudget, requireUnspent } from '../../expressions/filter-budget.ts';
import { countExpressions, fillTemplate } from '../../expressions/template.ts';
import { toText } from '../../expressions/to-text.ts';
import { hasExactNumbers, isNestedDeeperThan, isObject, isStorable, type Json } from '../../json.ts';
import { checkTokenData, type TokenTypeName, tokenTypeOf } from '../../types/token-types.ts';
import { withoutCvc } from '../expiry/cvc.ts';
import { parseMoment } from '../moment.ts';
import { isTokenId } from '../token-id.ts';
import { type TokenInputWire, tokenInputSchema } from './token-input.schema.ts';

/** A token input that passed every check, with the defaults of its type. */
export interface TokenInput {
  id: string | undefined;
  type: TokenTypeName;
  data: Json;
  /** `data` as JSON text. */
  dataText: string;
  /** The same without a `cvc` that will have to go. */
  lastingText: string;
  /** Null where there is none. */
  mask: Json;
  containers: string[];
  metadata: Record<string, string>;
  searchIndexes: string[];
  /** What the search indexes come to, each once, without those that come to nothing. */
  searchTexts: string[];
  fingerprintExpression: string | undefined;
  /** The text that the fingerprint is over. Empty where the expression gives nothing: then there is none. */
  fingerprintText: string;
  /** Undefined where the Tenant's setting decides. */
  deduplicate: boolean | undefined;
  /** ISO 8601. */
  expiresAt: string | undefined;
}

/** What all inputs of one request are read with. */
export interface InputReading {
  now: Date;
  budget: FilterBudget;
}

const mebibyte = 1024 * 1024;
/** Arrays and objects within each other. */
export const deepestJson = 500;
const mostExpressions = 50;
const validateAll = new Ajv({ allErrors: true }).compile<TokenInputWire>(tokenInputSchema);
/** Stops at the first fault. */
const validateToFirst = new Ajv().compile<TokenInputWire>(tokenInputSchema);
/** Of a map whose faults are all told: each of them takes some microseconds. */
const mostMembers = 100;

/**
 * Checks what a token is to be created from, wherever it came from. Unknown members are ignored; null counts as absent,
 * but for `data`.
 * @param path where the input is in the body; the errors name it.
 * @throws {ServiceError} `validation_failed` with every fault by its path, `payload_too_large` for data over 1 MiB.
 */
export function readTokenInput(value: unknown, path: string, reading: InputReading): TokenInput {
  const wire = withoutNulls(value);
  refuse(path, isNestedDeeperThan(deepestJson, wire) ? { '': ['is nested too deeply'] } : {});
  const isExact = !isObject(wire) || hasExactNumbers(wire.data);
  refuse(path, isExact ? {} : { data: ['holds a number that is too large to be kept exactly; send it as text'] });
  const validate = hasManyMembers(wire) ? validateToFirst : validateAll;
  if (!validate(wire)) throw faultsAt(path, schemaFaults(validate.errors ?? []));
  const type = wire.type ?? 'token';
  const data = wire.data as Json;
  const dataText = JSON.stringify(data);
  if (Buffer.byteLength(dataText) > mebibyte)
    throw new ServiceError('payload_too_large', 'data may have at most 1 MiB');
  refuse(path, { ...checkTokenData(type, data), ...memberFaults(wire, reading) });
  // What outlives the cvc is made from what stays: a hash of three digits would give them away.
  const lasting = withoutCvc(type, data);
  const textOf = (expression: string) => toText(fillTemplate(expression, lasting, reading.budget));
  const input: TokenInput = {
    id: wire.id,
    type,
    data,
    dataText,
    lastingText: lasting === data ? dataText : JSON.stringify(lasting),
    mask: (wire.mask as Json | undefined) ?? tokenTypeOf(type).defaultMask,
    containers: wire.containers ?? [tokenTypeOf(type).defaultContainer],
    metadata: wire.metadata ?? {},
    searchIndexes: wire.search_indexes ?? [],
    searchTexts: [...new Set(wire.search_indexes?.map(textOf))].filter((text) => text !== ''),
    fingerprintExpression: wire.fingerprint_expression,
    fingerprintText:
      wire.fingerprint_expression === undefined
        ? tokenTypeOf(type).fingerprint(data)
        : textOf(wire.fingerprint_expression),
    deduplicate: wire.deduplicate_token,
    expiresAt: wire.expires_at === undefined ? undefined : parseMoment(wire.expires_at)?.toISOString(),
  };
  requireUnspent(reading.budget);
  return input;
}

/** Whether so many members may be wrong that only the first fault is told. */
export function hasManyMembers(wire: unknown): boolean {
  return isObject(wire) && isObject(wire.metadata) && Object.keys(wire.metadata).length > mostMembers;
}

/** What the schema cannot say. */
function memberFaults({ data, ...wire }: TokenInputWire, { now, budget }: InputReading): FieldErrors {
  const faults: FieldErrors = {};
  const fill = (template: Json) => fillTemplate(template, data as Json, budget);
  for (const [member, value] of Object.entries(wire)) {
    if (!isStorable(value as Json)) faults[member] = ['contains a NUL character or a lone surrogate'];
  }
  if (wire.id !== undefined && !isTokenId(wire.id)) faults.id = ['is not a token id'];
  noteTemplateFault(faults, { member: 'mask', template: wire.mask as Json | undefined, fill });
  noteTemplateFault(faults, { member: 'fingerprint_expression', template: wire.fingerprint_expression, fill });
  wire.search_indexes?.forEach((expression, i) => {
    noteTemplateFault(faults, { member: `search_indexes[${i}]`, template: expression, fill });
  });
  const expiresAt = wire.expires_at === undefined ? undefined : (parseMoment(wire.expires_at) ?? 'unreadable');
  if (expiresAt === 'unreadable') faults.expires_at = ['must be an ISO 8601 date'];
  else if (expiresAt && expiresAt <= now) faults.expires_at = ['must be in the future'];
  return faults;
}

interface TemplateMember {
  member: string;
  template: Json | undefined;
  fill: (template: Json) => Json | undefined;
}

/** Fills it once, so that what would be too large later is refused now. */
function noteTemplateFault(faults: FieldErrors, { member, template, fill }: TemplateMember): void {
  if (template === undefined) return;
  try {
    const count = countExpressions(template);
    if (count > mostExpressions) faults[member] = [`may hold at most ${mostExpressions} expressions`];
    else if (member !== 'mask' && count === 0) faults[member] = ['must hold an expression'];
    else if (Buffer.byteLength(JSON.stringify(fill(template) ?? null)) > mebibyte) {
      faults[member] = ['gives more than 1 MiB'];
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    faults[member] = [error.detail];
  }
}

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => member !== null || name === 'data'));
}

/** What ajv found, by path. It repeats no value. */
export function schemaFaults(errors: readonly ErrorObject[]): FieldErrors {
  const faults: FieldErrors = {};
  for (const { instancePath, keyword, params, message } of errors) {
    const member = instancePath
      .slice(1)
      .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
      .replaceAll('/', '.');
    if (keyword === 'required') faults[params.missingProperty] = ['is required'];
    else faults[member] = [faultInWords({ keyword, params, message })];
  }
  return faults;
}

function refuse(path: string, faults: FieldErrors): void {
  if (Object.keys(faults).length > 0) throw faultsAt(path, faults);
}

function faultsAt(path: string, faults: FieldErrors): ServiceError {
  const prefixed = Object.entries(faults).map(([member, messages]) => [joinPath(path, member), messages]);
  return validationFailed(Object.fromEntries(prefixed));
}

/** `cards[0]` and `data.number` are `cards[0].data.number`. */
function joinPath(path: string, member: string): string {
  return path === '' || member === '' ? `${path}${member}` : `${path}.${member}`;
}
