import { date, example, uuid } from '../../resource.schema.ts';

export const applicationKeyParams = {
  type: 'object',
  required: ['id', 'keyId'],
  properties: { id: uuid, keyId: { ...uuid, description: 'Id of the key, not the key' } },
} as const;

export const createApplicationKeyBody = {
  type: 'object',
  title: 'CreateApplicationKey',
  examples: [{}, { expires_at: '2999-01-01T00:00:00.000Z' }],
  properties: {
    expires_at: { ...date, description: 'The key is refused from this time on, which must be in the future' },
  },
} as const;

export const applicationKey = {
  type: 'object',
  title: 'ApplicationKey',
  description: 'One of the one to five keys of an Application.',
  required: ['id', 'version', 'created_at'],
  examples: [
    {
      id: 'a3c1f2be-0d57-4c61-9d8e-5f0b6a7c4d21',
      version: 2,
      ...example.authorship,
    },
  ],
  properties: {
    id: uuid,
    version: { type: 'integer', minimum: 1, description: 'Counts from 1 in each Application' },
    created_by: { ...uuid, description: 'Application that created it' },
    created_at: date,
    expires_at: { ...date, description: 'Moment from which the key is refused' },
  },
} as const;

export const applicationKeyList = {
  type: 'array',
  title: 'ApplicationKeyList',
  items: applicationKey,
  examples: [[applicationKey.examples[0]]],
} as const;

export const applicationKeyWithKey = {
  ...applicationKey,
  title: 'ApplicationKeyWithKey',
  description: 'A key of an Application, with the key itself.',
  examples: [
    { ...applicationKey.examples[0], key: 'svc_live_prv_ExampleExampleExampleExampleExampleExampleExampl0000' },
  ],
  required: [...applicationKey.required, 'key'],
  properties: {
    ...applicationKey.properties,
    key: { type: 'string', description: 'The API key; shown here and never again' },
  },
} as const;
