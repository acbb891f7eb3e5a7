import { type ErrorCode, errorCodes, problemContentType } from '@sluice/problems';
import { takesIfMatch } from '../entity-tag.ts';
import { defaultBodyLimitBytes, keyHolderOf, type OperationFacts, takesIdempotencyKey } from '../operation.ts';
import type { Access } from './access.ts';
import type { Part } from './document.ts';

type Facts = OperationFacts<object, object, object>;

/** RFC 9457 problem details. */
export const problemSchema = {
  type: 'object',
  title: 'Problem',
  description: 'What went wrong, as problem details (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  properties: {
    type: { type: 'string', description: '`urn:sluice:problem:` and the error code' },
    title: { type: 'string', description: 'Short name of the error' },
    status: { type: 'integer', description: 'The HTTP status' },
    detail: { type: 'string', description: 'What is wrong with this request' },
    instance: { type: 'string', description: 'Trace id of the request. Log lines of the request contain it too' },
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Only for validation failures: the path of each field that is wrong, with messages',
    },
  },
} as const;

const trace = { 'SVC-TRACE-ID': { $ref: '#/components/headers/TraceId' } };
const entityTag = { ETag: { $ref: '#/components/headers/EntityTag' } };
const retry = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

const everywhere = {
  unauthenticated: {
    name: 'Unauthorized',
    description:
      'The API key is missing, malformed, unknown or expired. Or the Application or the Tenant of the key was deleted. The response does not say which of these.',
    detail: 'The SVC-API-KEY header must contain a valid API key',
    headers: trace,
  },
  too_many_requests: {
    name: 'TooManyRequests',
    description: 'A rate limit or another limit was reached. Retry after the number of seconds in `Retry-After`.',
    detail: 'Too many requests; try again later',
    headers: { ...trace, ...retry },
  },
  internal: {
    name: 'InternalServerError',
    description: 'An error in the service. For details, search the logs for the trace id.',
    detail: 'The request could not be processed',
    headers: trace,
  },
  unavailable: {
    name: 'ServiceUnavailable',
    description:
      'The service is overloaded, or a store such as Postgres is unavailable. Retry after the number of seconds in `Retry-After`.',
    detail: 'A store that this request needs is unavailable; try again',
    headers: { ...trace, ...retry },
  },
} as const;

export function sharedFailures(): Record<string, Part> {
  return Object.fromEntries(
    Object.entries(everywhere).map(([code, { name, description, detail, headers }]) => [
      name,
      { description, headers, content: problemContent(code as ErrorCode, detail) },
    ]),
  );
}

/** In the order of the checks. */
export function failuresOf(operation: Facts, access: Access = 'key'): ErrorCode[] {
  const { permission, takesKeyOf, params, query, body, errors = [] } = operation;
  const hasKey = access !== 'anybody' && takesIdempotencyKey(operation);
  const codes: ErrorCode[] = access === 'anybody' ? [] : ['unauthenticated'];
  if (permission || takesKeyOf || access !== 'key') codes.push('forbidden');
  if (body) codes.push('unsupported_media_type', 'payload_too_large');
  if (params || query || body || hasKey) codes.push('validation_failed');
  if (takesIfMatch(operation)) codes.push('precondition_failed');
  if (hasKey) codes.push('conflict');
  codes.push(...errors, 'too_many_requests', 'internal', 'unavailable');
  return [...new Set(codes)];
}

export function failureResponses(operation: Facts, access: Access): Record<string, Part> {
  return Object.fromEntries(
    failuresOf(operation, access).map((code) => {
      const isOwn = access !== 'key' && (code === 'unauthenticated' || code === 'forbidden');
      const shared = isOwn ? undefined : everywhere[code as keyof typeof everywhere];
      const response = shared ? { $ref: `#/components/responses/${shared.name}` } : ownFailure(code, operation, access);
      return [errorCodes[code].status, response];
    }),
  );
}

function ownFailure(code: ErrorCode, operation: Facts, access: Access): Part {
  const ofPages = access === 'key' ? undefined : describeOfPages(code, access);
  const { description, detail, errors } = ofPages ?? describe(code, operation);
  const headers = { ...trace, ...(code === 'precondition_failed' && entityTag) };
  return { description, headers, content: problemContent(code, detail, errors) };
}

interface Description {
  description: string;
  detail: string;
  errors?: Record<string, string[]>;
}

/** Undefined if the description for calls by key applies as well. */
function describeOfPages(code: ErrorCode, access: Exclude<Access, 'key'>): Description | undefined {
  if (code === 'forbidden') {
    return {
      description: "The request was not sent by a page of the console's host, or the sign-in may not do this.",
      detail:
        'Only pages of this host may send this request. The browser must send the header Sec-Fetch-Site: same-origin with it',
    };
  }
  if (code !== 'unauthenticated') return undefined;
  return access === 'cookie'
    ? { description: 'There is no cookie, or its sign-in has ended.', detail: 'You are not signed in' }
    : {
        description: 'The link, key or invitation is not valid. The response does not say why.',
        detail: 'This link or key is not valid. It may have been used already, or it may have expired',
      };
}

function describe(code: ErrorCode, operation: Facts): Description {
  const { consumes = 'application/json', bodyLimitBytes = defaultBodyLimitBytes } = operation;
  switch (code) {
    case 'forbidden':
      return refusal(operation);
    case 'unsupported_media_type':
      return {
        description: `The \`Content-Type\` is not \`${consumes}\`, or the body has a \`Content-Encoding\`.`,
        detail: `The Content-Type must be ${consumes}`,
      };
    case 'payload_too_large':
      if (!operation.body) {
        return {
          description: 'The page would have more than 8 MiB.',
          detail: 'This page would have more than 8 MiB; ask for fewer items with a smaller `size`',
        };
      }
      return {
        description: `The body has more than ${bodyLimitBytes.toLocaleString('en')} bytes.`,
        detail: `The body may have at most ${bodyLimitBytes} bytes`,
      };
    case 'validation_failed':
      return {
        description: 'The request is not valid. `errors` names each field that is wrong.',
        ...exampleFault(operation),
      };
    case 'not_found':
      return {
        description:
          'The resource does not exist, or it belongs to another Tenant. The response is the same in both cases.',
        detail: 'The resource does not exist',
      };
    case 'precondition_failed':
      return {
        description:
          'The resource was changed after the version in `If-Match`, so nothing was done. `ETag` has the current version.',
        detail: 'The resource was changed after you read it. Read it again, and send its current ETag as If-Match',
      };
    case 'conflict':
      return {
        description: conflicts(operation),
        detail: 'This idempotency key was used with another body or If-Match',
      };
    case 'limit_reached':
      return {
        description: 'A limit is reached. `detail` names it.',
        detail: 'An Application has at most 5 keys; delete one first',
      };
    case 'transform_does_not_compile':
      return {
        description: 'The code does not compile. `detail` names line and column.',
        detail: 'request_transform.code does not compile: line 3, column 7',
      };
    default:
      return { description: `${errorCodes[code].title}.`, detail: errorCodes[code].title };
  }
}

function refusal({ permission, orPermission, takesKeyOf }: Facts): Description {
  if (takesKeyOf === undefined) {
    const [needed, lacks] = orPermission
      ? [
          `${permission} or ${orPermission}`,
          `has neither the permission \`${permission}\` nor the permission \`${orPermission}\``,
        ]
      : [permission, `does not have the permission \`${permission}\``];
    return {
      description: `The Application of the key ${lacks}.`,
      detail: `This operation needs the permission ${needed}`,
    };
  }
  const holder = keyHolderOf(takesKeyOf);
  return { description: `The key must be the key of ${holder}.`, detail: `This operation needs the key of ${holder}` };
}

function exampleFault({ params, query, body, bodyOptional }: Facts): Omit<Description, 'description'> {
  const schema = [body, query, params].find((part) => part !== undefined) as { required?: string[] } | undefined;
  const member = schema?.required?.[0];
  if (body && member) return { detail: `${member} is required`, errors: { [member]: ['is required'] } };
  if (body && !bodyOptional) return { detail: 'the body is required', errors: { $: ['is required'] } };
  if (query) return { detail: 'size must be at most 100', errors: { size: ['must be at most 100'] } };
  return { detail: 'id must be a UUID', errors: { id: ['must be a UUID'] } };
}

function conflicts(operation: Facts): string {
  const isDeclared = operation.errors?.includes('conflict');
  const also = isDeclared ? 'also ' : '';
  const reasons = [
    isDeclared && 'An existing resource or an earlier request prevents the operation. `detail` says what prevents it.',
    takesIdempotencyKey(operation) &&
      `The response is ${also}409 if the idempotency key was used with another body, or if the first request with this idempotency key has not ended.`,
  ];
  return reasons.filter(Boolean).join(' ');
}

function problemContent(code: ErrorCode, detail: string, errors?: Record<string, string[]>): Part {
  const { status, title } = errorCodes[code];
  const instance = '7c1d2b1e-6f0a-4d59-9a42-1f6a2f1c9b7e';
  const example = { type: `urn:sluice:problem:${code}`, title, status, detail, instance, ...(errors && { errors }) };
  return { [problemContentType]: { schema: { $ref: '#/components/schemas/Problem' }, example } };
}
