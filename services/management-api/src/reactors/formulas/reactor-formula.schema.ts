import { authorship, example, name, uuid } from '../../resource.schema.ts';

const memberTypes = ['string', 'boolean', 'number'] as const;
const declared = {
  name: { type: 'string', minLength: 1, maxLength: 200 },
  description: { type: 'string', maxLength: 1000 },
  type: { type: 'string', enum: memberTypes, description: 'Type of the value. Text is converted to this type' },
} as const;

export const code = {
  type: 'string',
  minLength: 1,
  description:
    'A CommonJS module that exports an async function. The function gets `req.args`, `req.configuration` and `req.svc`, may call `fetch`, and returns an object with any of `raw`, `body`, `headers` and `tokenize`. At most 256 KiB',
} as const;

export const sampleCode =
  "module.exports = async function (req) {\n  const { number } = req.args;\n  const headers = { authorization: 'Bearer ' + req.configuration.BIN_KEY };\n  const response = await fetch('https://bins.example.com/' + number.slice(0, 8), { headers });\n  return { raw: await response.json() };\n};\n";

export const formulaBody = {
  type: 'object',
  title: 'ReactorFormulaBody',
  required: ['name', 'code'],
  properties: {
    type: { type: 'string', enum: ['private'], description: 'The only value is `private`' },
    name,
    description: { type: 'string', maxLength: 1000 },
    icon: { type: 'string', maxLength: 50_000, description: 'Icon to show in user interfaces, for example a data URL' },
    code,
    configuration: {
      type: 'array',
      default: [],
      description: 'Fields that the `configuration` of each reactor with this formula must have',
      items: { type: 'object', required: ['name', 'type'], additionalProperties: false, properties: declared },
    },
    request_parameters: {
      type: 'array',
      default: [],
      description: 'Fields that `args` must have, unless `optional` is true. `args` may also have other fields',
      items: {
        type: 'object',
        required: ['name', 'type'],
        additionalProperties: false,
        properties: { ...declared, optional: { type: 'boolean', default: false } },
      },
    },
  },
  examples: [
    {
      type: 'private',
      name: 'BIN enrichment',
      description: 'Looks up who issued a card',
      code: sampleCode,
      configuration: [{ name: 'BIN_KEY', description: 'Key of the BIN service', type: 'string' }],
      request_parameters: [{ name: 'number', description: 'Card number', type: 'string', optional: false }],
    },
  ],
} as const;

export const formula = {
  type: 'object',
  title: 'ReactorFormula',
  description: 'Code that several reactors run, each with its own configuration.',
  required: ['id', 'tenant_id', 'type', 'name', 'code', 'configuration', 'request_parameters'],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Id of the Tenant' },
    ...formulaBody.properties,
    ...authorship,
  },
  examples: [
    {
      id: '7d1f3b82-5a64-4c0e-9b17-2e8f6a9c4d05',
      tenant_id: example.tenant_id,
      ...formulaBody.examples[0],
      ...example.authorship,
    },
  ],
} as const;
