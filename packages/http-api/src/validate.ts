import { containerForm, containerPattern } from '@sluice/access';
import { type FieldErrors, faultInWords, validationFailed } from '@sluice/problems';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { pointerPath } from './member-path.ts';

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** ISO 8601: a date, or a date with time, optionally with fraction and offset. */
const datePattern = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

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

/** UTC where it has no zone. Undefined for what is no date, and outside UTC years 1 to 9999, which Postgres refuses. */
export function parseDate(text: string): Date | undefined {
  if (!datePattern.test(text)) return undefined;
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text.slice(10)) || text.length === 10 ? text : `${text}Z`;
  const date = new Date(
    zoned
      .replace(' ', 'T')
      .replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
      .toUpperCase(),
  );
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9999) return undefined;
  return daysInMonth(text) >= Number(text.slice(8, 10)) ? date : undefined;
}

/** V8 reads 31 February with a time as a day in March. */
function daysInMonth(text: string): number {
  return new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
}

/** @throws {ServiceError} `validation_failed` where there are errors. */
export function refuse(errors: Record<string, string[]>): void {
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
}
