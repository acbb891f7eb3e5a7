import { date, example, name, uuid } from '../../resource.schema.ts';

export const applicationKeyParams = {
  type: 'object',
  required: ['id', 'keyId'],
  properties: { id: uuid, keyId: { ...uuid, description: 'Id of the key, not the key' } },
} as const;

export const createApplicationKeyBody = {
  type: 'object',
  title: 'CreateApplicationKey',
  examples: [{ name: 'Backend in Frankfurt', expires_at: '2999-01-01T00:00:00.000Z' }, {}],
  properties: {
    name: { ...name, description: 'To tell the keys of the Application apart. 1 to 200 characters, not only blanks' },
    expires_at: { ...date, description: 'The key is refused from this time on, which must be in the future' },
  },
} as const;

const newKey = {
  id: 'a3c1f2be-0d57-4c61-9d8e-5f0b6a7c4d21',
  version: 2,
  name: 'Backend in Frankfurt',
  last_four: 'x9Qa',
  ...example.authorship,
};

export const applicationKey = {
  type: 'object',
  title: 'ApplicationKey',
  description: 'One of the one to five keys of an Application.',
  required: ['id', 'version', 'created_at'],
  examples: [{ ...newKey, last_used_at: '2026-03-02T11:00:00.000Z' }],
  properties: {
    id: uuid,
    version: { type: 'integer', minimum: 1, description: 'Counts from 1 in each Application' },
    name: { type: 'string', description: 'As it was given when the key was made; absent if it has none' },
    last_four: {
      type: 'string',
      description:
        'Four characters of the key, to recognize it by: those before its last six, which are a checksum. Absent for keys that a version before 0.2.0 made',
    },
    created_by: { ...uuid, description: 'Application or person that created it' },
    created_at: date,
    expires_at: { ...date, description: 'Moment from which the key is refused' },
    last_used_at: {
      ...date,
      description:
        'Beginning of the hour (UTC) of the last request with this key, whatever the answer was. Shown after about a minute; absent if it was never used, or not since 0.2.0. Sessions that the key authorized do not count',
    },
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
  examples: [{ ...newKey, key: 'svc_live_prv_ExampleExampleExampleExampleExampleExampleExamplx9Qa000000' }],
  required: [...applicationKey.required, 'key'],
  properties: {
    ...applicationKey.properties,
    key: { type: 'string', description: 'The API key; shown here and never again' },
  },
} as const;
