import { permissions } from '@sluice/access';
import { takesIfMatch } from '../entity-tag.ts';
import { keyHolderOf, type OperationFacts, takesIdempotencyKey } from '../operation.ts';
import type { Access } from './access.ts';
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
export function describeOperation(operation: Facts, schemas: Schemas, access: Access): Part {
  const { id, tag, summary, params, query, body, consumes = 'application/json', method } = operation;
  const ofPage = access === 'key' ? [] : parametersOfPages(method);
  const isKept = access !== 'anybody' && takesIdempotencyKey(operation);
  const parameters = [
    ...parametersOf('path', params, schemas),
    ...parametersOf('query', query, schemas),
    ...ofPage.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    { $ref: '#/components/parameters/TraceId' },
    ...(isKept ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(takesIfMatch(operation) ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation, access),
    ...(access === 'cookie' && { security: [{ SignIn: [] }] }),
    ...(access === 'anybody' && { security: [] }),
    ...(operation.permission && { 'x-sluice-permission': operation.permission }),
    parameters,
    ...patternsOf(query),
    ...(body && {
      requestBody: { required: !operation.bodyOptional, content: { [consumes]: { schema: schemas.refer(body) } } },
    }),
    responses: { ...successResponses(operation, schemas), ...failureResponses(operation, access) },
  };
}

/** Headers that a browser sends from a page of the console's host; it sets the first one by itself. */
function parametersOfPages(method: Facts['method']): string[] {
  return method === 'get' ? ['FetchSite'] : ['FetchSite', 'Console'];
}

function descriptionOf(operation: Facts, access: Access): string {
  const { description, cors } = operation;
  const browsers = cors
    ? 'Browsers may call this operation, from pages of the `allowed_origins` of the Application. If the Application has no `allowed_origins`, the installation decides which pages may call it (default: all).'
    : undefined;
  return [description, needOf(operation, access), browsers].filter(Boolean).join('\n\n');
}

function needOf({ permission, orPermission, takesKeyOf }: Facts, access: Access): string {
  if (access === 'anybody')
    return "**Permission:** none. No sign-in is needed. This operation exists only at the console's host.";
  if (access === 'cookie') {
    const needed = permission ? `\`${permission}\`` : 'none';
    const holder = takesKeyOf ? `; only for ${keyHolderOf(takesKeyOf)}, and not for a sign-in with a key` : '';
    return `**Permission:** ${needed}${holder}. This operation needs the cookie of a sign-in, and exists only at the console's host.`;
  }
  const known = permissions.find(({ type }) => type === permission);
  return known
    ? `**Permission:** \`${permission}\`, which Applications of type ${known.application_types.join(' or ')} can hold${orPermission ? `; or \`${orPermission}\`` : ''}.`
    : `**Permission:** none; ${takesKeyOf ? `only the key of ${keyHolderOf(takesKeyOf)} is accepted` : 'every valid key is accepted'}.`;
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
  200: 'Success.',
  201: 'Created.',
  204: 'Success, without a body.',
};

function successResponses(facts: Facts, schemas: Schemas): Record<string, Part> {
  const { response, confirmed, versioned, method } = facts;
  return Object.fromEntries(
    Object.entries(response).map(([status, schema]) => [
      status,
      {
        description: meanings[status] ?? 'Success.',
        headers: {
          'SVC-TRACE-ID': { $ref: '#/components/headers/TraceId' },
          ...(confirmed && { 'SVC-REVOCATION': { $ref: '#/components/headers/Revocation' } }),
          ...(versioned && method !== 'delete' && { ETag: { $ref: '#/components/headers/EntityTag' } }),
          ...(status === '201' && { Location: { $ref: '#/components/headers/Location' } }),
        },
        ...(schema && { content: contentOf(facts, schemas.refer(schema)) }),
      },
    ]),
  );
}

function contentOf({ produces = 'application/json', events }: Facts, schema: Part): Part {
  const schemaOf = (type: string) => (type === 'text/event-stream' ? events : schema);
  return Object.fromEntries([produces].flat().map((type) => [type, { schema: schemaOf(type) }]));
}

/** `/proxies/:id` → `/proxies/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
