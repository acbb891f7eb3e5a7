import { authorship, example, name, uuid } from '../resource.schema.ts';

const exported = 'module.exports = async function (req) {\n  const { args, configuration } = req;\n';

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

const requestTransform = {
  ...transform,
  title: 'RequestTransform',
  description:
    'Code that runs on the inbound request before it is forwarded. It sees `args.body`, `args.headers`, `args.method`, `args.path` and `args.query`, and returns `body` and `headers`.',
  examples: [
    {
      code: `${exported}  return {\n    body: { ...args.body, merchant: configuration.MERCHANT },\n    headers: args.headers,\n  };\n};\n`,
    },
  ],
} as const;

const responseTransform = {
  ...transform,
  title: 'ResponseTransform',
  description:
    "Code that runs on the destination's response before it is returned. It sees `args.body` and `args.headers`, and returns `body` and `headers`.",
  examples: [
    { code: `${exported}  const { status } = args.body;\n  return { body: { status }, headers: args.headers };\n};\n` },
  ],
} as const;

const destinationUrl = {
  type: 'string',
  minLength: 1,
  maxLength: 2048,
  description: 'Where requests are forwarded',
} as const;

export const configuration = {
  type: 'object',
  description: 'Static name/value pairs (for example secrets) for the transforms; at most 64 KiB in all',
  propertyNames: { type: 'string', maxLength: 200 },
  additionalProperties: { type: 'string', maxLength: 50_000 },
} as const;

const requireAuth = {
  type: 'boolean',
  default: true,
  description: 'Whether an invocation must carry an API key',
} as const;

const sample = {
  name: 'Payment processor',
  destination_url: 'https://processor.example.com/v1/charges',
  request_transform: requestTransform.examples[0],
  configuration: { MERCHANT: 'acct_20931' },
  require_auth: true,
} as const;

/** Also checks the result of a merge patch. */
export const proxyBody = {
  type: 'object',
  title: 'ProxyBody',
  required: ['name', 'destination_url'],
  examples: [sample],
  properties: {
    name,
    destination_url: destinationUrl,
    request_transform: requestTransform,
    response_transform: responseTransform,
    application: {
      type: 'object',
      required: ['id'],
      properties: { id: uuid },
      description: 'A private or public Application; transforms act with its permissions',
    },
    configuration,
    require_auth: requireAuth,
  },
} as const;

/** Takes `application_id` too, so that an answer can be sent back. */
export const proxyPutBody = {
  ...proxyBody,
  title: 'ProxyPut',
  properties: {
    ...proxyBody.properties,
    application: {
      ...proxyBody.properties.application,
      type: ['object', 'null'],
      description: `${proxyBody.properties.application.description}. Null: none`,
    },
    application_id: { ...uuid, type: ['string', 'null'], description: 'Counts where `application` is not a member' },
  },
} as const;

/** Only the result of a merge patch is checked. */
export const proxyPatchBody = {
  type: 'object',
  title: 'ProxyPatch',
  description: 'The members of ProxyBody, all optional. null removes a member.',
  examples: [{ name: 'Payment processor, new', configuration: { MERCHANT: 'acct_20932' }, response_transform: null }],
} as const;

export const proxy = {
  type: 'object',
  title: 'Proxy',
  description: 'A pre-configured forwarding endpoint.',
  examples: [
    {
      id: '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73',
      tenant_id: example.tenant_id,
      key: 'ExampleProxyKeyExampleProxyKey00',
      ...sample,
      application_id: example.application_id,
      ...example.authorship,
    },
  ],
  required: ['id', 'tenant_id', 'name', 'key', 'destination_url', 'require_auth'],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Owning Tenant' },
    name,
    key: { type: 'string', description: 'Selects the Proxy in an invocation' },
    destination_url: destinationUrl,
    request_transform: requestTransform,
    response_transform: responseTransform,
    application_id: { ...uuid, description: 'The Application whose permissions transforms have' },
    configuration,
    require_auth: { type: 'boolean', description: 'Whether an invocation must carry an API key' },
    ...authorship,
  },
} as const;
