export const applicationTypes = ['private', 'public', 'management'] as const;
export type ApplicationType = (typeof applicationTypes)[number];

export interface Permission {
  type: string;
  description: string;
  application_types: readonly ApplicationType[];
}

const management = ['management'] as const;
const privateOnly = ['private'] as const;
const publicOrPrivate = ['public', 'private'] as const;

export const permissions = [
  { type: 'token:create', description: 'Create tokens', application_types: publicOrPrivate },
  { type: 'token:update', description: 'Update tokens', application_types: publicOrPrivate },
  { type: 'token:read', description: 'Read tokens', application_types: privateOnly },
  { type: 'token:search', description: 'Search tokens', application_types: privateOnly },
  { type: 'token:delete', description: 'Delete tokens', application_types: privateOnly },
  {
    type: 'token:use',
    description: "Use tokens in the service's own facilities (for example proxies, reactors)",
    application_types: privateOnly,
  },
  { type: 'tenant:read', description: 'Read tenants', application_types: management },
  { type: 'tenant:update', description: 'Update tenants', application_types: management },
  { type: 'tenant:delete', description: 'Delete tenants', application_types: management },
  { type: 'application:read', description: 'Read applications', application_types: management },
  { type: 'application:create', description: 'Create applications', application_types: management },
  {
    type: 'application:update',
    description: 'Update applications and regenerate their API keys',
    application_types: management,
  },
  { type: 'application:delete', description: 'Delete applications', application_types: management },
  { type: 'log:read', description: 'Read audit logs', application_types: management },
  { type: 'reactor:read', description: 'Read reactor formulas and reactors', application_types: management },
  { type: 'reactor:create', description: 'Create reactor formulas and reactors', application_types: management },
  { type: 'reactor:update', description: 'Update reactor formulas and reactors', application_types: management },
  { type: 'reactor:delete', description: 'Delete reactor formulas and reactors', application_types: management },
  { type: 'proxy:read', description: 'Read proxies', application_types: management },
  { type: 'proxy:create', description: 'Create proxies', application_types: management },
  { type: 'proxy:update', description: 'Update proxies', application_types: management },
  { type: 'proxy:delete', description: 'Delete proxies', application_types: management },
  { type: 'tenant:member:read', description: 'Read tenant members', application_types: management },
  { type: 'tenant:member:update', description: 'Update tenant members', application_types: management },
  { type: 'tenant:member:delete', description: 'Delete tenant members', application_types: management },
  { type: 'tenant:invitation:create', description: 'Create tenant invitations', application_types: management },
  { type: 'tenant:invitation:read', description: 'Read tenant invitations', application_types: management },
  { type: 'tenant:invitation:update', description: 'Update tenant invitations', application_types: management },
  { type: 'tenant:invitation:delete', description: 'Delete tenant invitations', application_types: management },
  { type: 'report:read', description: 'Read reports', application_types: management },
] as const satisfies readonly Permission[];

export type PermissionType = (typeof permissions)[number]['type'];

const holders = new Map<string, readonly ApplicationType[]>(permissions.map((p) => [p.type, p.application_types]));

export function isHoldable(permission: string, type: ApplicationType): permission is PermissionType {
  return holders.get(permission)?.includes(type) ?? false;
}

export function permissionsFor(type?: ApplicationType): readonly Permission[] {
  return type ? permissions.filter((p) => (p.application_types as readonly string[]).includes(type)) : permissions;
}
