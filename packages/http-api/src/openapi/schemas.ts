import { isDeepStrictEqual } from 'node:util';
import type { Part } from './document.ts';

export interface Schemas {
  readonly named: Record<string, Part>;
  /** A reference if the schema has a title, otherwise the schema itself. */
  refer(schema: object): Part;
}

const schemaKeywords = new Set(['items', 'additionalProperties', 'propertyNames', 'not']);
const schemaMapKeywords = new Set(['properties', 'patternProperties']);
const schemaListKeywords = new Set(['allOf', 'anyOf', 'oneOf']);

/** `refer` throws if two schemas share a title. */
export function collectSchemas(): Schemas {
  const named: Record<string, Part> = {};

  function refer(schema: object): Part {
    const written = write(schema);
    const { title } = written;
    if (typeof title !== 'string') return written;
    const known = named[title];
    if (known && !isDeepStrictEqual(known, written)) throw new Error(`Two schemas have the title ${title}`);
    named[title] = written;
    return { $ref: `#/components/schemas/${title}` };
  }

  function write(schema: object): Part {
    const members = Object.entries(schema).map(([keyword, value]) => [keyword, writeValue(keyword, value)] as const);
    return Object.fromEntries(members);
  }

  function writeValue(keyword: string, value: unknown): unknown {
    // Tools know date-time; the description says what else is accepted.
    if (keyword === 'format' && value === 'iso-date') return 'date-time';
    if (typeof value !== 'object' || value === null) return value;
    if (schemaKeywords.has(keyword)) return refer(value);
    if (schemaListKeywords.has(keyword)) return Object.values(value).map(refer);
    if (schemaMapKeywords.has(keyword)) {
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, refer(member)]));
    }
    return value;
  }

  return { named, refer };
}
