import { parseDate } from '@sluice/database';
import { type FieldErrors, faultInWords, type ServiceError, validationFailed } from '@sluice/problems';
import { Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import { uuidPattern } from './canonical-uuid.ts';
import { pointerPath } from './member-path.ts';
import { patternForms } from './pattern-forms.ts';

const formats = { uuid: uuidPattern, 'iso-date': (text: string) => parseDate(text) !== undefined };

/** Query parameters are text and are coerced; bodies are not. */
const options = { useDefaults: true, allowUnionTypes: true, formats, verbose: false } as const;
const bodies = new Ajv(options);
const bodiesToTheLastFault = new Ajv({ ...options, allErrors: true });
const queries = new Ajv({ ...options, allErrors: true, coerceTypes: true });
for (const ajv of [bodies, bodiesToTheLastFault, queries]) ajv.addKeyword(lowerCase());

/**
 * Converts an id to the form that Postgres writes before any handler sees it. In capitals it would find its row, but
 * match neither the tags of caches, nor the record to which a ciphertext is bound.
 */
function lowerCase(): FuncKeywordDefinition {
  const compile: FuncKeywordDefinition['compile'] = () => (text: string, at) => {
    if (at) at.parentData[at.parentDataProperty] = text.toLowerCase();
    return true;
  };
  return { keyword: 'lowerCase', type: 'string', schemaType: 'boolean', modifying: true, compile };
}

function withLowerCaseIds(schema: object): object {
  const isId = (value: unknown) => (value as { format?: unknown } | null)?.format === 'uuid';
  return JSON.parse(JSON.stringify(schema), (_name, value) => (isId(value) ? { ...value, lowerCase: true } : value));
}

const mostFaults = 100;
/**
 * For a larger body only the first fault is reported, because there may be one for each byte, and each takes
 * microseconds.
 */
const mostValues = 1000;

export type Check = (value: unknown) => void;

/**
 * The check fills in defaults, and makes UUIDs canonical. @throws {ServiceError} `validation_failed` with the faults by
 * path.
 */
export function bodyCheck(schema: object): Check {
  const validator = compiledWhenUsed(bodies, schema);
  const toTheLastFault = compiledWhenUsed(bodiesToTheLastFault, schema);
  return (value) => {
    const validate = validator();
    if (validate(value)) return;
    if (hasMoreValues(mostValues, value)) throw faultsIn(validate.errors);
    const validateAll = toTheLastFault();
    validateAll(value);
    throw faultsIn(validateAll.errors);
  };
}

/** {@link bodyCheck} for path and query parameters, which are converted to the types of the schema. */
export function queryCheck(schema: object): Check {
  const validator = compiledWhenUsed(queries, schema);
  return (value) => {
    const validate = validator();
    if (!validate(value)) throw faultsIn(validate.errors);
  };
}

/** A service would compile hundreds of schemas when it starts, and most of them are rarely used. */
function compiledWhenUsed(ajv: Ajv, schema: object): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => {
    validate ??= ajv.compile(withLowerCaseIds(schema));
    return validate;
  };
}

/** Stops counting at `most`. */
function hasMoreValues(most: number, value: unknown): boolean {
  const found = [value];
  for (const item of found) {
    if (typeof item !== 'object' || item === null) continue;
    const members = Array.isArray(item) ? item : Object.values(item);
    if (found.length + members.length > most) return true;
    found.push(...members);
  }
  return false;
}

function faultsIn(errors: ErrorObject[] | null | undefined): ServiceError {
  return validationFailed(fieldErrors(errors?.slice(0, mostFaults) ?? []));
}

function fieldErrors(errors: readonly ErrorObject[]): FieldErrors {
  // Without a prototype, so that `constructor` is an ordinary member.
  const byPath: FieldErrors = Object.create(null);
  for (const error of errors) {
    if (error.keyword === 'if' || error.keyword === 'propertyNames') continue; // the error of the part that failed is more precise
    const { path, message } = describe(error);
    const messages = byPath[path] ?? [];
    byPath[path] = messages;
    if (!messages.includes(message)) messages.push(message);
  }
  return byPath;
}

function describe({ instancePath, keyword, params, message, propertyName }: ErrorObject): {
  path: string;
  message: string;
} {
  const path = pointerPath(instancePath);
  const below = (member: string) => (path === '' ? member : `${path}.${member}`);
  switch (keyword) {
    case 'required':
      return { path: below(params.missingProperty), message: 'is required' };
    case 'additionalProperties':
      return { path: below(params.additionalProperty), message: 'is not a known field' };
    case 'const':
      return { path, message: `must be ${JSON.stringify(params.allowedValue)}` };
    case 'format':
      return { path, message: params.format === 'uuid' ? 'must be a UUID' : 'must be an ISO 8601 date' };
    case 'pattern':
      return {
        path,
        message: patternForms[params.pattern] ?? faultInWords({ keyword, params, message, propertyName }),
      };
  }
  return { path, message: faultInWords({ keyword, params, message, propertyName }) };
}

/** @throws {ServiceError} `validation_failed` if there are errors. */
export function refuse(errors: Record<string, string[]>): void {
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
}
