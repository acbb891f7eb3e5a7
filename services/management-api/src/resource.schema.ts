/** Pieces of schema that several resources share. */

export const uuid = { type: 'string', format: 'uuid' } as const;
export const date = { type: 'string', format: 'iso-date', description: 'ISO 8601' } as const;
export const name = { type: 'string', minLength: 1, maxLength: 200, description: '1 to 200 characters' } as const;

export const idParams = { type: 'object', required: ['id'], properties: { id: uuid } } as const;
export const idFilter = {
  type: 'array',
  items: uuid,
  maxItems: 1000,
  description: 'Only these ids; repeated or separated by commas',
} as const;

export const authorship = {
  created_by: uuid,
  created_at: date,
  modified_by: uuid,
  modified_at: date,
} as const;
