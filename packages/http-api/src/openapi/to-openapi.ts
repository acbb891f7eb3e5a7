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
        description: 'An id of your own for this request. One is made where none is sent, or one that does not fit.',
        schema: { type: 'string', pattern: '^[A-Za-z0-9-]{1,64}$' },
      },
      IfMatch: {
        name: 'If-Match',
        in: 'header',
        description:
          'Makes the change only if the resource is still the one that you read: send the `ETag` of that response, or several, separated by commas. If somebody else has changed it, the response is 412 and nothing is changed. `*` accepts every version. Without this header the last write wins.',
        schema: { type: 'string', examples: ['"2026-01-01T00:00:00.000Z"'] },
      },
      IdempotencyKey: {
        name: 'SVC-IDEMPOTENCY-KEY',
        in: 'header',
        description:
          'Makes the request safe to send again: for 24 hours the same request with the same key gets the first success again, and nothing is done twice. It shows no key, link or value that is gone since, and no more than its caller may read by then: `data` of a token that was patched since is what a read shows. Failures are not kept. Keys are separate for each Application, method and path.',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
    },
    headers: {
      TraceId: { description: 'The id of the request, in log lines too', schema: { type: 'string' } },
      EntityTag: {
        description:
          'The version that the response shows, or that the change made; send it as `If-Match` with the next change. It is the time of the last change, `modified_at` or else `created_at`, in double quotes. It is absent from a response without these times, and from a repeated 204.',
        schema: { type: 'string', examples: ['"2026-01-01T00:00:00.000Z"'] },
      },
      Location: { description: 'The path of what was created', schema: { type: 'string', format: 'uri-reference' } },
      Revocation: {
        description:
          'That no process serves the old state any more: the id of the change, how many processes cached, how long it took',
        schema: { type: 'string', examples: ['change=9f6d3c1e-7a52-4d3b-9a0e-6c1f5b2d8e47, holders=4, waited_ms=3'] },
      },
      RetryAfter: { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 } },
    },
    responses: sharedFailures(),
  };
}

const componentsOfPages: OpenApiDocument['components'] = {
  securitySchemes: {
    SignIn: { type: 'apiKey', in: 'cookie', name: '__Host-sluice', description: 'Given by signing in, for 12 hours' },
  },
  parameters: {
    FetchSite: {
      name: 'Sec-Fetch-Site',
      in: 'header',
      required: true,
      description: 'Set by the browser; what comes from elsewhere than a page of this host is 403',
      schema: { type: 'string', const: 'same-origin' },
    },
    Console: {
      name: 'SVC-CONSOLE',
      in: 'header',
      required: true,
      description: 'No form of another page can send it',
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
