import { date, example, name, uuid } from '../../resource.schema.ts';

export const applicationKeyParams = {
  type: 'object',
  required: ['id', 'keyId'],
  properties: { id: uuid, keyId: { ...uuid, description: 'Id of the key. It is not the key itself' } },
} as const;

export const createApplicationKeyBody = {
  type: 'object',
  title: 'CreateApplicationKey',
  examples: [{ name: 'Backend in Frankfurt', expires_at: '2999-01-01T00:00:00.000Z' }, {}],
  properties: {
    name: { ...name, description: 'Name of the key, to recognize it: 1 to 200 characters, not only blanks' },
    expires_at: {
      ...date,
      description: 'From this time on the key is refused. The time must be in the future. Default: never',
    },
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
  description: 'A key of an Application. An Application has at least one key and at most five.',
  required: ['id', 'version', 'created_at'],
  examples: [{ ...newKey, last_used_at: '2026-03-02T11:00:00.000Z' }],
  properties: {
    id: uuid,
    version: {
      type: 'integer',
      minimum: 1,
      description: 'Number of the key. The first key of each Application has the number 1',
    },
    name: { type: 'string', description: 'Name of the key. Absent if it has none' },
    last_four: {
      type: 'string',
      description:
        'Four characters by which you can recognize the key. The last six characters of a key are a checksum. `last_four` has the four characters before this checksum. Absent for keys that were created before version 0.2.0',
    },
    created_by: { ...uuid, description: 'Id of the Application or user that created it' },
    created_at: date,
    expires_at: { ...date, description: 'From this time on the key is refused' },
    last_used_at: {
      ...date,
      description:
        'Time of the last request with this key, rounded down to the hour (UTC). Requests that failed count, too. Requests of sessions that the key authorized do not count. It takes about a minute until a request appears here. Absent if there was no request since version 0.2.0',
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
    key: { type: 'string', description: 'The API key. It is shown only once' },
  },
} as const;
