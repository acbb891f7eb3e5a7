import type { OperationFacts } from '../operation.ts';
import type { Access } from './access.ts';
import { describeOperation, templateOf } from './describe-operation.ts';
import type { OpenApiDocument, Part, Tag } from './document.ts';
import { problemSchema, sharedFailures } from './failures.ts';
import { withHeaderPrefix } from './header-prefix.ts';
import { collectSchemas } from './schemas.ts';

type Facts = OperationFacts<object, object, object>;

export interface OpenApiOptions {
  operations: readonly Facts[];
  /** Operations called with the cookie of a sign-in. */
  operationsByCookie?: readonly Facts[];
  /** Operations called from pages of the console's host without a sign-in. */
  anonymousOperations?: readonly Facts[];
  title: string;
  version: string;
  description: string;
  headerPrefix: string;
  /** Default: the origin that serves the document. */
  servers?: readonly Part[];
  tags?: readonly Tag[];
  additions?: Pick<OpenApiDocument, 'paths' | 'components'>;
}

/** @throws {Error} if two schemas share a title, or two operations share an id, or method and path. */
export function toOpenApi(options: OpenApiOptions): OpenApiDocument {
  const {
    operations,
    operationsByCookie = [],
    anonymousOperations = [],
    title,
    version,
    description,
    headerPrefix,
    tags = [],
    additions,
  } = options;
  const schemas = collectSchemas();
  schemas.refer(problemSchema);
  const paths = structuredClone(additions?.paths ?? {});
  const ids = new Set<string>();
  const all = [
    ...operations.map((operation): [Facts, Access] => [operation, 'key']),
    ...operationsByCookie.map((operation): [Facts, Access] => [operation, 'cookie']),
    ...anonymousOperations.map((operation): [Facts, Access] => [operation, 'anybody']),
  ];
  const accesses = new Set(all.map(([, access]) => access));
  for (const [operation, access] of all) {
    const { id, method, path } = operation;
    const item = paths[templateOf(path)] ?? {};
    if (ids.has(id) || item[method]) throw new Error(`There are two operations ${id}, or two ${method} ${path}`);
    ids.add(id);
    paths[templateOf(path)] = { ...item, [method]: describeOperation(operation, schemas, access) };
  }
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: { title, version, description },
    servers: options.servers ?? [{ url: '/' }],
    security: [{ ApiKey: [] }],
    tags,
    paths,
    components: mergeComponents(
      components(),
      accesses.size > 1 ? componentsOfPages : {},
      { schemas: sorted(schemas.named) },
      additions?.components ?? {},
    ),
  };
  return JSON.parse(withHeaderPrefix(JSON.stringify(document), headerPrefix));
}

function components(): OpenApiDocument['components'] {
  return {
    securitySchemes: {
      ApiKey: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY', description: 'The API key of an Application' },
    },
    parameters: {
      TraceId: {
        name: 'SVC-TRACE-ID',
        in: 'header',
        description:
          'Your own trace id for this request: at most 64 letters, digits and dashes. If it is absent or has another form, the service creates one.',
        schema: { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$' },
      },
      IfMatch: {
        name: 'If-Match',
        in: 'header',
        description:
          'Makes the change only if nobody has changed the resource since you read it. Send the `ETag` of the response that you read, or several, separated by commas. If none of them is current, the response is 412, and nothing is changed. `*` accepts every version. Without this header the last write wins.',
        schema: { type: 'string', examples: ['"2026-01-01T00:00:00.000Z"'] },
      },
      IdempotencyKey: {
        name: 'SVC-IDEMPOTENCY-KEY',
        in: 'header',
        description:
          'Makes it safe to repeat the request. For 24 hours, a request with the same idempotency key and body gets the first successful response again, and nothing is done twice. Some parts of this response can differ: `data` of tokens is current, and what the caller may no longer read is left out. API keys, links and secrets that are no longer valid are left out too. Errors are not stored. Idempotency keys are separate for each Application, method and path.',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
    },
    headers: {
      TraceId: {
        description: 'Trace id of the request. Log lines of the request contain it too',
        schema: { type: 'string' },
      },
      EntityTag: {
        description:
          'Current version of the resource. Send it as `If-Match` with your next change. Its value is `modified_at`, or `created_at` if nothing was changed yet, in double quotes. If the resource has neither time, the response has no `ETag`. A 204 response that is sent again for the same `SVC-IDEMPOTENCY-KEY` has no `ETag` either.',
        schema: { type: 'string', examples: ['"2026-01-01T00:00:00.000Z"'] },
      },
      Location: { description: 'Path of the new resource', schema: { type: 'string', format: 'uri-reference' } },
      Revocation: {
        description:
          'Present if every process now uses the new state. It contains the id of the change, the number of processes with caches, and the time until all of them had confirmed the change',
        schema: { type: 'string', examples: ['change=9f6d3c1e-7a52-4d3b-9a0e-6c1f5b2d8e47, holders=4, waited_ms=3'] },
      },
      RetryAfter: { description: 'Seconds to wait before a retry', schema: { type: 'integer', minimum: 0 } },
    },
    responses: sharedFailures(),
  };
}

const componentsOfPages: OpenApiDocument['components'] = {
  securitySchemes: {
    SignIn: {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-sluice',
      description: 'Cookie of a sign-in. It is valid for 12 hours',
    },
  },
  parameters: {
    FetchSite: {
      name: 'Sec-Fetch-Site',
      in: 'header',
      required: true,
      description: 'Set by the browser. A request that was not sent by a page of this host is 403',
      schema: { type: 'string', const: 'same-origin' },
    },
    Console: {
      name: 'SVC-CONSOLE',
      in: 'header',
      required: true,
      description: 'Required to change something. Forms of other sites cannot send this header',
      schema: { type: 'string', const: '1' },
    },
  },
};

function mergeComponents(...parts: OpenApiDocument['components'][]): OpenApiDocument['components'] {
  const merged: OpenApiDocument['components'] = {};
  for (const [kind, members] of parts.flatMap((part) => Object.entries(part))) {
    merged[kind] = { ...merged[kind], ...members };
  }
  return merged;
}

function sorted(members: Record<string, Part>): Record<string, Part> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}
