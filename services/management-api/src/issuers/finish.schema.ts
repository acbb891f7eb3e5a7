import { example, uuid } from '../resource.schema.ts';

export const finishSignInBody = {
  type: 'object',
  title: 'FinishSignIn',
  examples: [{ tenant_id: example.tenant_id }],
  properties: {
    tenant_id: { ...uuid, description: 'Which of the Tenants of the person; needed where there are several' },
    invitation: { type: 'string', minLength: 1, maxLength: 200, description: 'The secret of an invitation' },
  },
} as const;

const signInProvider = {
  type: 'object',
  title: 'SignInProvider',
  examples: [{ name: 'keycloak' }],
  required: ['name'],
  properties: { name: { type: 'string' } },
} as const;

export const signInProviders = {
  type: 'array',
  items: signInProvider,
  examples: [signInProvider.examples],
} as const;
