import { containerForm, containerPattern } from '@sluice/access';
import { parseDate } from '@sluice/database';
import { type FieldErrors, faultInWords, validationFailed } from '@sluice/problems';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { pointerPath } from './member-path.ts';

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const formats = { uuid: uuidPattern, 'iso-date': (text: string) => parseDate(text) !== undefined };

/** Query parameters are text and are coerced; bodies are not. */
const options = { allErrors: true, useDefaults: true, allowUnionTypes: true, formats, verbose: false } as const;
const bodies = new Ajv(options);
const queries = new Ajv({ ...options, coerceTypes: true });

/** A body can have as many faults as it has bytes. */
const mostFaults = 100;

export type Check = (value: unknown) => void;

/** The check fills in defaults. @throws {ServiceError} `validation_failed` with the faults by their paths. */
export function compileBodyCheck(schema: object): Check {
  return checkWith(bodies.compile(schema));
}

/** {@link compileBodyCheck} for path and query parameters, which become the types of the schema. */
export function compileQueryCheck(schema: object): Check {
  return checkWith(queries.compile(schema));
}

function checkWith(validate: ValidateFunction): Check {
  return (value) => {
    if (!validate(value)) throw validationFailed(fieldErrors(validate.errors?.slice(0, mostFaults) ?? []));
  };
}

function fieldErrors(errors: readonly ErrorObject[]): FieldErrors {
  // Without a prototype, so that `constructor` is an ordinary member.
  const byPath: FieldErrors = Object.create(null);
  for (const error of errors) {
    if (error.keyword === 'if' || error.keyword === 'propertyNames') continue; // the part that failed says more
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
      return { path: below(params.additionalProperty), message: 'is not a known member' };
    case 'const':
      return { path, message: `must be ${JSON.stringify(params.allowedValue)}` };
    case 'format':
      return { path, message: params.format === 'uuid' ? 'must be a UUID' : 'must be an ISO 8601 date' };
    case 'pattern':
      if (params.pattern !== containerPattern) break;
      return { path, message: containerForm };
  }
  return { path, message: faultInWords({ keyword, params, message, propertyName }) };
}

/** @throws {ServiceError} `validation_failed` where there are errors. */
export function refuse(errors: Record<string, string[]>): void {
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
}
