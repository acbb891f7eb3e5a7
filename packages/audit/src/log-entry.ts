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

/** Which rows there are. A row of another kind does not compile, so that the console has words for each. */
export const writtenVerbs = {
  application: ['create', 'update', 'delete', 'regenerate', 'expire', 'sign_in'],
  invitation: ['create', 'update', 'delete', 'accept'],
  member: ['create', 'update', 'delete'],
  proxy: ['create', 'update', 'delete', 'use'],
  reactor: ['create', 'update', 'delete', 'use'],
  reactor_formula: ['create', 'update', 'delete'],
  reactor_run: ['delete'],
  session: ['authorize', 'delete'],
  tenant: ['create', 'update', 'delete'],
  token: ['create', 'read', 'update', 'delete', 'expire'],
  user: ['update', 'sign_in'],
} as const satisfies Record<EntityType, readonly Verb[]>;

export type VerbOf<Type extends EntityType> = (typeof writtenVerbs)[Type][number];

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
