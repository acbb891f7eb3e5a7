import { isObject } from './is-object.ts';

/** The part of JSON Schema in which the service describes its bodies. */
export interface Schema {
  /** A list allows each of its types. */
  type?: string | readonly string[];
  enum?: readonly string[];
  format?: string;
  pattern?: string;
  /** What the pattern allows, in words that follow the path of the member. */
  form?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
}

/**
 * Every fault of a body, by the path of its member. No value is quoted, because it may be a secret.
 *
 * Members that the schema does not name are faults even if the service ignores them, because in a file they are
 * mistakes. An optional member that is null counts as missing, as it does for the service.
 */
export function faultsIn(schema: Schema, value: unknown, path = ''): string[] {
  const fault = faultOf(schema, value);
  if (fault !== undefined) return [`${path} ${fault}`.trim()];
  if (Array.isArray(value)) return value.flatMap((item, i) => faultsIn(schema.items ?? {}, item, `${path}[${i}]`));
  if (!isObject(value)) return [];
  const { properties = {}, required = [], additionalProperties: others, propertyNames = {} } = schema;
  const at = (name: string) => (path ? `${path}.${name}` : name);
  const missing = required.filter((name) => (value[name] ?? null) === null);
  const present = Object.entries(value).filter(([, member]) => member !== null);
  const faults = present.flatMap(([name, member]) => {
    if (Object.hasOwn(properties, name)) return faultsIn(properties[name] ?? {}, member, at(name));
    if (!isObject(others)) {
      const known = Object.keys(properties).join(', ');
      return [`there is no member ${name}${path && ` in ${path}`}. Known members: ${known}`];
    }
    const ofName = faultOf(propertyNames, name);
    return [...(ofName ? [`a name in ${path} ${ofName}`] : []), ...faultsIn(others, member, at(name))];
  });
  return [...missing.map((name) => `${at(name)} is required`), ...faults];
}

const nouns: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Faults of the value itself, not of its members. */
function faultOf(schema: Schema, value: unknown): string | undefined {
  const { type = [], minLength = 0, maxLength = Infinity, minimum = -Infinity, maximum = Infinity } = schema;
  const types = [type].flat();
  if (types.length > 0 && !types.some((one) => isOfType(value, one)))
    return `must be ${types.map((one) => nouns[one] ?? one).join(' or ')}`;
  if (typeof value === 'string') {
    const length = [...value].length;
    if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`;
    if (length < minLength) return 'must not be empty';
    if (length > maxLength) return `may have at most ${maxLength} characters`;
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
      return schema.form ?? `must match ${schema.pattern}`;
    if (schema.format === 'uuid' && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)) return 'must be a UUID';
    if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) return 'must be an ISO 8601 date';
  }
  if (typeof value === 'number' && (value < minimum || value > maximum)) return `must be ${minimum} to ${maximum}`;
  if (Array.isArray(value) && value.length > (schema.maxItems ?? Infinity))
    return `may have at most ${schema.maxItems} items`;
  if (Array.isArray(value) && value.length < (schema.minItems ?? 0)) return 'must not be empty';
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type && !Array.isArray(value);
}
