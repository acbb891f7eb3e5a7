import type { Generated } from 'kysely';

interface Kinds {
  /** Unchanged, in a column of the member's name. */
  plain: unknown;
  /** The text of an object's `code`. */
  code: string;
  /** The id of an object that has no other member. Responses name it as its column. */
  reference: string;
  /** JSON, encrypted with the purpose `proxy_secrets` and the member's name as field. Keys rotate it by this table. */
  secret: Buffer;
}

/** A member of a Proxy that its owner sets. */
export interface ProxyMember {
  column: string;
  kept: keyof Kinds;
  /**
   * Effect of a PUT without it: an error, the member is unset, it is set to its schema's `default`, or it is kept. Members
   * that are newer than 0.1.0 are kept, because clients of that version do not send them; null unsets them.
   */
  absent: 'refused' | 'unset' | 'default' | 'kept';
  /** In bodies. */
  schema: Readonly<Record<string, unknown>>;
  /** In answers. Without it: the schema of bodies, less its `default`. */
  answered?: Readonly<Record<string, unknown>>;
  /** Limit in bytes of UTF-8, for code and for the JSON of a secret. */
  mostBytes?: number;
  /** Its value in the example of a body. */
  example?: unknown;
}

const exported = 'module.exports = async function (req) {\n  const { args, configuration } = req;\n';
const requestCode = {
  code: `${exported}  return {\n    body: { ...args.body, merchant: configuration.MERCHANT },\n    headers: args.headers,\n  };\n};\n`,
};
const transform = {
  type: 'object',
  required: ['code'],
  additionalProperties: false,
  properties: {
    code: {
      type: 'string',
      minLength: 1,
      description: 'CommonJS module that exports an async function. At most 256 KiB',
    },
  },
} as const;
const uuid = { type: 'string', format: 'uuid' } as const;

/** The name of a route: as a label of a host name. */
export const pathNamePattern = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';
export const pathNameForm =
  'must be 1 to 63 lower-case letters, digits and dashes, and begin and end with a letter or a digit';

/**
 * Every member that the owner of a Proxy sets. A new member is an entry here and a column in a migration (and its use
 * in the gateway). Bodies, responses, `PUT`, `PATCH`, `sluice apply`, the gateway's cache and the rotation of keys
 * follow from this table. The reference lists them in this order.
 */
export const proxyMembers = {
  name: {
    column: 'name',
    kept: 'plain',
    absent: 'refused',
    schema: {
      type: 'string',
      minLength: 1,
      description:
        '1 to 200 characters. Control characters, invisible characters and text direction characters are not allowed. Blanks at both ends are removed',
    },
    example: 'Payment processor',
  },
  destination_url: {
    column: 'destination_url',
    kept: 'plain',
    absent: 'refused',
    schema: { type: 'string', minLength: 1, maxLength: 2048, description: 'URL to which requests are forwarded' },
    example: 'https://processor.example.com/v1/charges',
  },
  request_transform: {
    column: 'request_transform',
    kept: 'code',
    absent: 'unset',
    schema: {
      ...transform,
      title: 'RequestTransform',
      description:
        'Code that runs on the request before it is forwarded. It gets `args.body`, `args.headers`, `args.method`, `args.path` and `args.query`, and returns `body` and `headers`.',
      examples: [requestCode],
    },
    mostBytes: 256 * 1024,
    example: requestCode,
  },
  response_transform: {
    column: 'response_transform',
    kept: 'code',
    absent: 'unset',
    schema: {
      ...transform,
      title: 'ResponseTransform',
      description:
        'Code that runs on the response of the destination before it is returned. It gets `args.body` and `args.headers`, and returns `body` and `headers`.',
      examples: [
        {
          code: `${exported}  const { status } = args.body;\n  return { body: { status }, headers: args.headers };\n};\n`,
        },
      ],
    },
    mostBytes: 256 * 1024,
  },
  application: {
    column: 'application_id',
    kept: 'reference',
    absent: 'unset',
    schema: {
      type: 'object',
      required: ['id'],
      properties: { id: uuid },
      description:
        'A private or public Application. The transforms can create and read tokens with `req.svc`, with the permissions of this Application',
    },
    answered: {
      ...uuid,
      description:
        'Id of the Application. The transforms can create and read tokens with `req.svc`, with the permissions of this Application',
    },
  },
  configuration: {
    column: 'configuration_ciphertext',
    kept: 'secret',
    absent: 'unset',
    schema: {
      type: 'object',
      description: 'Names and values for the transforms, for example secrets. At most 64 KiB in total',
      propertyNames: { type: 'string', maxLength: 200 },
      additionalProperties: { type: 'string', maxLength: 50_000 },
    },
    mostBytes: 64 * 1024,
    example: { MERCHANT: 'acct_20931' },
  },
  require_auth: {
    column: 'require_auth',
    kept: 'plain',
    absent: 'default',
    schema: { type: 'boolean', default: true, description: 'Whether an invocation needs an API key' },
    example: true,
  },
  token_places: {
    column: 'token_places',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'array',
      maxItems: 20,
      items: { type: 'string' },
      description:
        'Parts of a request in which expressions are replaced: `body`, `query`, `path`, and `header:<name>` for each header. At most 20. Default: only `body`. If the array is empty, no part is searched, and every request is forwarded byte for byte, including its braces.\n\nIf `require_auth` is false and a request has no API key, expressions in the body of the request are forwarded unchanged. If an expression is in another part of the request that this list names, the response is 401.',
    },
    example: ['body', 'header:x-card-number'],
  },
  request_headers: {
    column: 'request_headers_ciphertext',
    kept: 'secret',
    absent: 'kept',
    schema: {
      type: 'object',
      description:
        'Headers, by name, that Sluice sets in every request to the destination after the request transform has run. A value may contain expressions with tokens, and values of the configuration as `{{ config: NAME }}`. Both may have filters. If the Proxy names an Application, tokens are revealed with the rights of that Application. If the Proxy names none, tokens are revealed with the rights of the caller. If a value contains a token, every invocation needs an API key. At most 100 headers and 16 KiB in total',
      additionalProperties: { type: 'string' },
    },
    example: { 'X-Merchant': '{{ config: MERCHANT }}' },
  },
  head_timeout_s: {
    column: 'head_timeout_s',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 600,
      description:
        "Time limit for the head of the destination's response, in seconds. When it expires, the response is 504. Default: 25",
    },
    example: 60,
  },
  path_name: {
    column: 'path_name',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'string',
      pattern: pathNamePattern,
      description:
        'Name of the route of the Proxy. Callers of a route need no proxy key: they call `/routes/<path_name>/…`, or the host `<path_name>.<ROUTES_HOST>` if ROUTES_HOST is set. A call of a route always needs an API key. The Tenant of the API key decides which Proxy is called, because names of routes are unique only within a Tenant.\n\n- The name has at most 63 lower-case letters, digits and dashes. If another Proxy of the Tenant has it, the response is 409.\n- Request headers that contain an API key of Sluice are not forwarded.\n- In the response headers `Location`, `Content-Location` and `Link`, addresses below the path of `destination_url` are replaced with addresses of the route. If one of these three headers has an address of Sluice that is not replaced in this way, the header is removed.\n- All other addresses in these headers still lead to their own hosts. A client that follows such an address sends its API key to the host of the address.',
    },
    example: 'processor',
  },
  accept_key_as: {
    column: 'accept_key_as',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'array',
      maxItems: 20,
      items: { type: 'string', enum: ['bearer', 'x-api-key', 'basic'] },
      description:
        'Where the route accepts an API key in addition to the header `SVC-API-KEY`. `bearer`: in `Authorization: Bearer <key>` or `Authorization: token <key>`. `x-api-key`: in the header `x-api-key`. `basic`: as the user or the password of `Authorization: Basic`. Client libraries of other APIs send their key in one of these places, so they can call the route unchanged. Default: only `SVC-API-KEY`',
    },
    example: ['bearer'],
  },
  allowed_methods: {
    column: 'allowed_methods',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: { type: 'string' },
      description:
        'The only methods with which the Proxy may be called. Other methods are 403. Case is ignored. `GET` does not include `HEAD`. Headers of the caller that name another method or path, such as `X-HTTP-Method-Override`, are not forwarded. A destination that reads the method from the body or the query may still use another method. Default: all',
    },
    example: ['GET', 'POST'],
  },
  allowed_paths: {
    column: 'allowed_paths',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: { type: 'string', maxLength: 1000 },
      description:
        'The only paths that may be called. The path after the address of the Proxy is compared, without the query. Other paths are 403.\n\n- `/v1/a` allows this path and all paths below it.\n- `/v1/a/` followed by `*` allows only the paths below `/v1/a`.\n- `/v1/a*` allows every path whose segment after `/v1/` begins with `a`, and all paths below it.\n\nA path is compared as it was sent. Because of percent-encoding, `..`, `\\` or `;`, a server could read another path. If that other path is not allowed, the response is 403.\n\nIf this field is set and the path contains an expression, the text `{{ … }}` is compared, not the value of the expression. The expression must not have a filter, and its value must not be empty. Otherwise the response is 400. Default: all',
    },
    example: ['/v1/charges', '/v1/refunds/*'],
  },
  response_guard: {
    column: 'response_guard',
    kept: 'plain',
    absent: 'kept',
    schema: {
      type: 'string',
      enum: ['off', 'tokenize', 'redact', 'block'],
      description:
        'What happens if the headers, body or trailers of a response contain a guarded value. Guarded values are the values that replaced expressions in the request, and the values that the request transform read with `req.svc`. Default: `off`\n\n- `tokenize` replaces the value with the expression that stands for the value. A value of the configuration is replaced with `{{ config: NAME }}`.\n- `redact` replaces the value with `[redacted]`.\n- `block` makes the response a 502. If the response has begun, the connection is closed.\n\nThe guard finds guarded values of at least six characters, in the usual encodings. It does not find values in other encodings. If one request has more than 1,000 guarded values of at least six characters, or more than 64 KiB of these values, the response is 413. The guard does not restrict where a token may be used. For that, set the `use` of the token.',
    },
    example: 'redact',
  },
} as const satisfies Record<string, ProxyMember>;

export type ProxyMembers = typeof proxyMembers;

export type ProxyMemberName = keyof ProxyMembers;

/** The type of a column that is kept as it is, by the `type` of its schema. */
type Plain<S> = S extends { enum: readonly (infer E)[] }
  ? E
  : S extends { type: 'boolean' }
    ? boolean
    : S extends { type: 'integer' }
      ? number
      : S extends { type: 'array' }
        ? string[]
        : string;

type Value<M extends ProxyMember> = M['kept'] extends 'plain' ? Plain<M['schema']> : Kinds[M['kept']];

type Column<M extends ProxyMember> = M['absent'] extends 'refused'
  ? Value<M>
  : M['absent'] extends 'default'
    ? Generated<Value<M>>
    : Value<M> | null;

export type ProxyColumns = { [M in ProxyMemberName as ProxyMembers[M]['column']]: Column<ProxyMembers[M]> };

/** For loops. `proxyMembers` itself has the literal types of each member. */
export function listProxyMembers(): readonly (readonly [ProxyMemberName, ProxyMember])[] {
  return Object.entries(proxyMembers) as [ProxyMemberName, ProxyMember][];
}

export const proxyColumns = listProxyMembers().map(([, { column }]) => column as keyof ProxyColumns);
