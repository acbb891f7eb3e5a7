import { proxyMembers } from '@sluice/database';
import { mergePatchOf } from '@sluice/http-api';
import { authorship, example, name, uuid } from '../resource.schema.ts';
import { code, sampleCode } from './formulas/reactor-formula.schema.ts';

const configuration = {
  type: 'object',
  description:
    'Names and values for the code, for example secrets. At most 64 KiB in total. Fields that the formula declares are required, and are converted to the declared type',
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
    formula: { ...formula, description: 'The formula whose code the reactor runs. Send either `formula` or `code`' },
    application: {
      ...proxyMembers.application.schema,
      description:
        'Application of the code. With `req.svc`, the code can do what the permissions of this Application allow',
    },
    configuration,
    retryable: {
      type: 'boolean',
      default: false,
      description:
        'What happens if a gateway stops during an asynchronous run, and the code may already have called another service. True: the run starts again, so the code may call the service twice. False: the run fails',
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
    formula: {
      ...formula,
      ...orNull,
      description:
        'The formula whose code the reactor runs. If the body has neither `formula` nor `code` nor `formula_id`, the reactor runs the same code as before',
    },
    formula_id: { ...orNullId, description: 'Used only if the body has neither `formula` nor `code`' },
    application: { ...reactorBody.properties.application, ...orNull },
    application_id: { ...orNullId, description: 'Used only if the body has no `application`' },
  },
} as const;

/** The result of the merge is checked as a body. */
export const reactorPatchBody = mergePatchOf(reactorPutBody, {
  title: 'ReactorPatch',
  description: 'The fields of ReactorPut. All are optional. Null removes a field.',
  examples: [{ configuration: { BIN_KEY: 'key_20932' } }, { formula: null, code: 'module.exports = async () => ({})' }],
});

export const reactor = {
  type: 'object',
  title: 'Reactor',
  description: 'Your code, which callers run directly. Tokens in its arguments are replaced with their values.',
  required: ['id', 'tenant_id', 'name', 'retryable'],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Id of the Tenant' },
    name,
    code,
    formula_id: { ...uuid, description: 'The formula whose code the reactor runs' },
    application_id: {
      ...uuid,
      description:
        'Application of the code. With `req.svc`, the code can do what the permissions of this Application allow',
    },
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
