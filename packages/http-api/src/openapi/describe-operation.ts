import { permissions } from '@sluice/access';
import { keyHolderOf, type OperationFacts, takesIdempotencyKey } from '../operation.ts';
import type { Part } from './document.ts';
import { failureResponses } from './failures.ts';
import type { Schemas } from './schemas.ts';

type Facts = OperationFacts<object, object, object>;

interface ObjectSchema {
  patternProperties?: Record<string, object>;
  properties?: Record<string, { type?: string; description?: string }>;
  required?: readonly string[];
}

/** The operation object (OpenAPI 3.1, section 4.8.10). */
export function describeOperation(operation: Facts, schemas: Schemas): Part {
  const { id, tag, summary, params, query, body, consumes = 'application/json' } = operation;
  const parameters = [
    ...parametersOf('path', params, schemas),
    ...parametersOf('query', query, schemas),
    { $ref: '#/components/parameters/TraceId' },
    ...(takesIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    ...(operation.permission && { 'x-sluice-permission': operation.permission }),
    parameters,
    ...patternsOf(query),
    ...(body && {
      requestBody: { required: !operation.bodyOptional, content: { [consumes]: { schema: schemas.refer(body) } } },
    }),
    responses: { ...successResponses(operation, schemas), ...failureResponses(operation) },
  };
}

function descriptionOf({ description, permission, takesKeyOf, cors }: Facts): string {
  const known = permissions.find(({ type }) => type === permission);
  const need = known
    ? `**Permission:** \`${permission}\`, which Applications of type ${known.application_types.join(' or ')} can hold.`
    : `**Permission:** none; ${takesKeyOf ? `the key of ${keyHolderOf(takesKeyOf)}, and no other` : 'any valid key will do'}.`;
  const browsers = cors ? 'Browsers of any origin may call it.' : undefined;
  return [description, need, browsers].filter(Boolean).join('\n\n');
}

function parametersOf(place: 'path' | 'query', schema: object | undefined, schemas: Schemas): Part[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    ...(description && { description }),
    required: required.includes(name),
    ...(property.type === 'array' && { style: 'form', explode: true }),
    schema: schemas.refer(property),
  }));
}

/** An extension, because OpenAPI cannot express query parameters whose names follow a pattern. */
function patternsOf(query: ObjectSchema | undefined): Part {
  const patterns = Object.keys(query?.patternProperties ?? {});
  return patterns.length > 0 ? { 'x-sluice-query-patterns': patterns } : {};
}

const meanings: Record<string, string> = {
  200: 'The answer.',
  201: 'It is created.',
  204: 'It is done. There is no body.',
};

function successResponses(
  { response, confirmed, produces = 'application/json' }: Facts,
  schemas: Schemas,
): Record<string, Part> {
  return Object.fromEntries(
    Object.entries(response).map(([status, schema]) => [
      status,
      {
        description: meanings[status] ?? 'Success.',
        headers: {
          'SVC-TRACE-ID': { $ref: '#/components/headers/TraceId' },
          ...(confirmed && { 'SVC-REVOCATION': { $ref: '#/components/headers/Revocation' } }),
          ...(status === '201' && { Location: { $ref: '#/components/headers/Location' } }),
        },
        ...(schema && { content: contentOf(produces, schemas.refer(schema)) }),
      },
    ]),
  );
}

function contentOf(produces: NonNullable<Facts['produces']>, schema: Part): Part {
  return Object.fromEntries([produces].flat().map((type) => [type, { schema }]));
}

/** `/proxies/:id` → `/proxies/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
