export const uuid = { type: 'string', format: 'uuid' } as const;
export const date = {
  type: 'string',
  format: 'iso-date',
  description: 'ISO 8601. In requests, a date without a time is allowed, and a time without a zone is UTC',
} as const;
/** `readName` checks the rest, because a PUT may send back a stored name that is older than the rules. */
export const name = {
  type: 'string',
  minLength: 1,
  description:
    '1 to 200 characters. Control characters, invisible characters and text direction characters are not allowed. Blanks at both ends are removed',
} as const;

export const idParams = { type: 'object', required: ['id'], properties: { id: uuid } } as const;
export const idFilter = {
  type: 'array',
  items: uuid,
  maxItems: 1000,
  description: 'Lists only items with these ids. Repeat the parameter, or separate ids with commas',
} as const;
export const nameFilter = {
  type: 'string',
  maxLength: 200,
  description:
    'Lists only items whose name contains this text. * matches any characters. A text with * must match the whole name. Case is ignored',
} as const;
export const emailFilter = {
  ...nameFilter,
  maxLength: 254,
  description: nameFilter.description.replaceAll('name', 'e-mail address'),
} as const;

export const authorship = {
  created_by: { ...uuid, description: 'Id of the Application, session or user that created it' },
  created_at: date,
  modified_by: { ...uuid, description: 'Id of the Application, session or user that last changed it' },
  modified_at: date,
} as const;

export const example = {
  tenant_id: '0c5f2a4e-8b1d-4a2c-9a55-3f6f0c7d2e11',
  application_id: '5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20',
  authorship: { created_by: 'f4a1c7d2-6a0e-4c39-b1f8-92b7d3e5a604', created_at: '2026-03-02T09:30:00.000Z' },
} as const;
