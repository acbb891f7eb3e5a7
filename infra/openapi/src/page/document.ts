import type { OpenApiDocument } from '@sluice/http-api';

/** The parts of JSON Schema that our documents use. */
export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | readonly string[];
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: readonly unknown[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Media {
  schema: Schema;
  example?: unknown;
}

interface Response {
  $ref?: string;
  description: string;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  /** The library's method, if it has one. */
  'x-sluice-method'?: string;
  tags: readonly [string];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  requestBody?: { $ref?: string; description?: string; content: Record<string, Media> };
  responses: Record<string, Response>;
  security?: readonly unknown[];
}

export interface Route {
  method: string;
  path: string;
  operation: Operation;
}

/** What `$ref` names, or the part itself. */
export function follow<T extends { $ref?: string }>(part: T, { components }: OpenApiDocument): T {
  if (part.$ref === undefined) return part;
  const [, , kind = '', name = ''] = part.$ref.split('/');
  const found = components[kind]?.[name];
  if (!found) throw new Error(`the document has no ${part.$ref}`);
  return found as unknown as T;
}

/** The name of a component that a `$ref` names. */
export function nameOf({ $ref }: { $ref?: string }): string | undefined {
  return $ref?.split('/').at(-1);
}
