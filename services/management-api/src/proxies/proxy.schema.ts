import { authorship, name, uuid } from '../resource.schema.ts';

const transform = {
  type: 'object',
  title: 'ProxyTransform',
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

const destinationUrl = {
  type: 'string',
  minLength: 1,
  maxLength: 2048,
  description: 'Where requests are forwarded',
} as const;

const configuration = {
  type: 'object',
  description: 'Name/value pairs for the transforms; at most 64 KiB in all',
  propertyNames: { type: 'string', maxLength: 200 },
  additionalProperties: { type: 'string', maxLength: 50_000 },
} as const;

const requireAuth = {
  type: 'boolean',
  default: true,
  description: 'Whether an invocation must carry an API key',
} as const;

/** Body of create and of full update, and what a merge patch must result in. */
export const proxyBody = {
  type: 'object',
  title: 'ProxyBody',
  required: ['name', 'destination_url'],
  properties: {
    name,
    destination_url: destinationUrl,
    request_transform: transform,
    response_transform: transform,
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

/** A merge patch is checked by its result; here only that it is an object. */
export const proxyPatchBody = { type: 'object', title: 'ProxyPatch' } as const;

export const proxy = {
  type: 'object',
  title: 'Proxy',
  required: ['id', 'tenant_id', 'name', 'key', 'destination_url', 'require_auth'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    name,
    key: { type: 'string', description: 'Selects the Proxy in an invocation' },
    destination_url: destinationUrl,
    request_transform: transform,
    response_transform: transform,
    application_id: uuid,
    configuration,
    require_auth: { type: 'boolean' },
    ...authorship,
  },
} as const;
