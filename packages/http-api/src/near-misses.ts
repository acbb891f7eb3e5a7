import { type KnownMembers, nearMisses } from '@sluice/problems';
import { type Check, refuse } from './validate.ts';

interface ObjectSchema {
  properties?: object;
  additionalProperties?: unknown;
  patternProperties?: unknown;
}

interface Facts {
  body?: object;
  response: { readonly [status: number]: object | null };
}

/** Checks the body's own members. Read-only members of responses are accepted, because they may be sent back. */
export function compileNearMissCheck({ body, response }: Facts): Check {
  const { properties, additionalProperties, patternProperties } = (body ?? {}) as ObjectSchema;
  if (!properties || additionalProperties !== undefined || patternProperties) return () => {};
  const answered = Object.values(response).flatMap((schema) => Object.keys((schema as ObjectSchema)?.properties ?? {}));
  const members: KnownMembers = { writable: Object.keys(properties), readOnly: answered };
  return (value) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) refuse(nearMisses(value, members));
  };
}
