/** `system`: the command line, and deletions of what is due. */
export type ActorType = 'application' | 'session' | 'user' | 'system';

export const verbs = [
  'create',
  'read',
  'update',
  'delete',
  'use',
  'regenerate',
  'authorize',
  'expire',
  'sign_in',
  'accept',
] as const;

export type Verb = (typeof verbs)[number];

export const entityNames = {
  application: 'Application',
  invitation: 'Invitation',
  member: 'Member',
  proxy: 'Proxy',
  reactor: 'Reactor',
  reactor_formula: 'Reactor formula',
  reactor_run: 'Reactor run',
  session: 'Session',
  tenant: 'Tenant',
  token: 'Token',
  user: 'User',
} as const;

export type EntityType = keyof typeof entityNames;

const done: Record<Verb, string> = {
  create: 'created',
  read: 'read',
  update: 'updated',
  delete: 'deleted',
  use: 'used',
  regenerate: 'given a new key',
  authorize: 'authorized',
  expire: 'expired',
  sign_in: 'signed in',
  accept: 'accepted',
};

export function messageOf(entityType: EntityType, operation: Verb): string {
  return `${entityNames[entityType]} ${done[operation]}`;
}
