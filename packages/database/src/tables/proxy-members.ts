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
  /** Effect of a PUT without it: an error, the member is unset, or it is set to its schema's `default`. */
  absent: 'refused' | 'unset' | 'default';
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
      description: 'CommonJS module that exports an async function; at most 256 KiB',
    },
  },
} as const;
const uuid = { type: 'string', format: 'uuid' } as const;

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
        '1 to 200 characters, without control, invisible and direction characters. Blanks at both ends are removed',
    },
    example: 'Payment processor',
  },
  destination_url: {
    column: 'destination_url',
    kept: 'plain',
    absent: 'refused',
    schema: { type: 'string', minLength: 1, maxLength: 2048, description: 'Where requests are forwarded' },
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
        'Code that runs on the inbound request before it is forwarded. It sees `args.body`, `args.headers`, `args.method`, `args.path` and `args.query`, and returns `body` and `headers`.',
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
        "Code that runs on the destination's response before it is returned. It sees `args.body` and `args.headers`, and returns `body` and `headers`.",
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
      description: 'A private or public Application; transforms act with its permissions',
    },
    answered: { ...uuid, description: 'The Application whose permissions transforms have' },
  },
  configuration: {
    column: 'configuration_ciphertext',
    kept: 'secret',
    absent: 'unset',
    schema: {
      type: 'object',
      description: 'Static name/value pairs (for example secrets) for the transforms; at most 64 KiB in all',
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
    schema: { type: 'boolean', default: true, description: 'Whether an invocation must carry an API key' },
    example: true,
  },
} as const satisfies Record<string, ProxyMember>;

export type ProxyMembers = typeof proxyMembers;

export type ProxyMemberName = keyof ProxyMembers;

/** The type of a column that is kept as it is, by the `type` of its schema. */
type Plain<S> = S extends { type: 'boolean' } ? boolean : S extends { type: 'array' } ? string[] : string;

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
