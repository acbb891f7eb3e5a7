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
    type: { type: 'string', description: '`urn:sluice:problem:` and the code of the kind of failure' },
    title: { type: 'string', description: 'The kind of failure in words' },
    status: { type: 'integer', description: 'The HTTP status' },
    detail: { type: 'string', description: 'What is wrong with this request' },
    instance: { type: 'string', description: 'The trace id of the request; its log lines carry it too' },
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'For a validation failure: messages by the path of the member that they are about',
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
      'The API key is missing, malformed, unknown or expired, or its Application or Tenant is deleted. The answer does not say which.',
    detail: 'The SVC-API-KEY header must carry a valid API key',
    headers: trace,
  },
  too_many_requests: {
    name: 'TooManyRequests',
    description: 'Too many requests. Send it again after the seconds that `Retry-After` names.',
    detail: 'Too many requests; try again later',
    headers: { ...trace, ...retry },
  },
  internal: {
    name: 'InternalServerError',
    description: 'A failure of the service. The answer says no more; the log does, under the trace id.',
    detail: 'The request could not be processed',
    headers: trace,
  },
  unavailable: {
    name: 'ServiceUnavailable',
    description: 'A part that the request needs is away. Send it again after the seconds that `Retry-After` names.',
    detail: 'A store that this request needs is not available; try again',
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
      description: "The request does not come from a page of the console's host, or what it asks for is not allowed.",
      detail: 'This answers only to pages of this host; the browser must send Sec-Fetch-Site',
    };
  }
  if (code !== 'unauthenticated') return undefined;
  return access === 'cookie'
    ? { description: 'There is no cookie, or its sign-in has ended.', detail: 'You are not signed in' }
    : {
        description: 'What was presented is not good. The answer does not say why.',
        detail: 'This link or key is not valid; it may have been used or have expired',
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
          description: 'The page would show more than 8 MiB.',
          detail: 'This page would show more than 8 MiB; ask for fewer items on one page by a smaller `size`',
        };
      }
      return {
        description: `The body has more than ${bodyLimitBytes.toLocaleString('en')} bytes.`,
        detail: `The body may have at most ${bodyLimitBytes} bytes`,
      };
    case 'validation_failed':
      return {
        description: 'The request is not valid. `errors` says where.',
        ...exampleFault(operation),
      };
    case 'not_found':
      return {
        description: 'There is none in the Tenant. The id of another Tenant gets the same answer.',
        detail: 'It does not exist',
      };
    case 'precondition_failed':
      return {
        description:
          'Somebody has changed it since the version that `If-Match` names. `ETag` names the present version. Nothing was changed.',
        detail: 'It has been changed since you read it. Read it again, and send its ETag as If-Match',
      };
    case 'conflict':
      return {
        description: conflicts(operation),
        detail: 'This idempotency key was used with another body or If-Match',
      };
    case 'limit_reached':
      return {
        description: 'A limit of the resource does not allow it. The detail says which.',
        detail: 'An Application has at most 5 keys; delete one first',
      };
    case 'transform_does_not_compile':
      return {
        description: 'The code of a transform does not compile. The detail names line and column.',
        detail: 'request_transform.code does not compile: line 3, column 7',
      };
    default:
      return { description: `${errorCodes[code].title}.`, detail: errorCodes[code].title };
  }
}

function refusal({ permission, orPermission, takesKeyOf }: Facts): Description {
  if (takesKeyOf === undefined) {
    const [needed, shown] = orPermission
      ? [`${permission} or ${orPermission}`, `\`${permission}\` or \`${orPermission}\``]
      : [permission, `\`${permission}\``];
    return {
      description: `The key's Application does not hold ${shown}.`,
      detail: `This needs the permission ${needed}`,
    };
  }
  const holder = keyHolderOf(takesKeyOf);
  return { description: `The key is not of ${holder}.`, detail: `This needs the key of ${holder}` };
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
  const reasons = [
    operation.errors?.includes('conflict') && 'It clashes with something that exists.',
    takesIdempotencyKey(operation) &&
      'The idempotency key was used with another body, or the first request with it is still under way.',
  ];
  return reasons.filter(Boolean).join(' ');
}

function problemContent(code: ErrorCode, detail: string, errors?: Record<string, string[]>): Part {
  const { status, title } = errorCodes[code];
  const instance = '7c1d2b1e-6f0a-4d59-9a42-1f6a2f1c9b7e';
  const example = { type: `urn:sluice:problem:${code}`, title, status, detail, instance, ...(errors && { errors }) };
  return { [problemContentType]: { schema: { $ref: '#/components/schemas/Problem' }, example } };
}
