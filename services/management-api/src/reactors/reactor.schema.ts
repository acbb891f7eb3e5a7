import { proxyMembers } from '@sluice/database';
import { mergePatchOf } from '@sluice/http-api';
import { authorship, example, name, uuid } from '../resource.schema.ts';
import { code, sampleCode } from './formulas/reactor-formula.schema.ts';

const configuration = {
  type: 'object',
  description:
    'Static values (for example secrets) for the code; at most 64 KiB in all. Members that the formula declares are required, and cast',
  propertyNames: { type: 'string', maxLength: 200 },
  additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 50_000 },
} as const;

const formula = { type: 'object', required: ['id'], properties: { id: uuid } } as const;

/** Also checks the result of a merge patch. */
export const reactorBody = {
  type: 'object',
  title: 'ReactorBody',
  required: ['name'],
  properties: {
    name,
    code,
    formula: { ...formula, description: 'What it runs, instead of `code`: exactly one of them' },
    application: { ...proxyMembers.application.schema, description: '`req.svc` acts with its permissions' },
    configuration,
    retryable: {
      type: 'boolean',
      default: false,
      description: 'Whether an asynchronous run that may have called out is repeated when its process died',
    },
  },
  examples: [{ name: 'BIN enrichment', code: sampleCode, configuration: { BIN_KEY: 'key_20931' } }],
} as const;

const orNull = { type: ['object', 'null'] } as const;
const orNullId = { ...uuid, type: ['string', 'null'] } as const;

/** Accepts `formula_id` and `application_id` too, so that a response can be sent back. */
export const reactorPutBody = {
  ...reactorBody,
  title: 'ReactorPut',
  properties: {
    ...reactorBody.properties,
    formula: { ...formula, ...orNull, description: 'Instead of `code`. Without both it runs what it ran before' },
    formula_id: { ...orNullId, description: 'Counts where neither `formula` nor `code` is a member' },
    application: { ...reactorBody.properties.application, ...orNull },
    application_id: { ...orNullId, description: 'Counts where `application` is not a member' },
  },
} as const;

/** The result of the merge is checked as a body. */
export const reactorPatchBody = mergePatchOf(reactorPutBody, {
  title: 'ReactorPatch',
  description: 'The members of ReactorPut, all optional. null removes a member.',
  examples: [{ configuration: { BIN_KEY: 'key_20932' } }, { formula: null, code: 'module.exports = async () => ({})' }],
});

export const reactor = {
  type: 'object',
  title: 'Reactor',
  description: 'Code of the Tenant that is called by itself, with values put into its arguments.',
  required: ['id', 'tenant_id', 'name', 'retryable'],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Owning Tenant' },
    name,
    code,
    formula_id: { ...uuid, description: 'The formula whose code it runs' },
    application_id: { ...uuid, description: 'The Application whose permissions `req.svc` has' },
    configuration,
    retryable: { type: 'boolean' },
    ...authorship,
  },
  examples: [
    {
      id: 'c2a9e6f0-3d47-4b18-8e5a-91f7d0b6c324',
      tenant_id: example.tenant_id,
      name: 'BIN enrichment',
      formula_id: '7d1f3b82-5a64-4c0e-9b17-2e8f6a9c4d05',
      application_id: example.application_id,
      configuration: { BIN_KEY: 'key_20931' },
      retryable: false,
      ...example.authorship,
    },
  ],
} as const;
