import type { Log } from '@sluice/sdk';
import type { EntityType, Operation } from './audit-search.ts';
import { guardHitsOf } from './guard-hits.ts';
import { refusedUsesOf } from './refused-uses.ts';

/** What each kind of row says that happened. */
export const happenings: Readonly<Record<EntityType, Readonly<Partial<Record<Operation, string>>>>> = {
  application: {
    create: 'Application created',
    update: 'Application updated',
    delete: 'Application deleted',
    regenerate: 'Keys replaced',
    expire: 'Application expired',
    sign_in: 'Signed in by key',
  },
  invitation: {
    create: 'Invitation created',
    update: 'Invitation updated',
    delete: 'Invitation deleted',
    accept: 'Invitation accepted',
  },
  member: { create: 'Member added', update: 'Role changed', delete: 'Member removed' },
  proxy: { create: 'Proxy created', update: 'Proxy updated', delete: 'Proxy deleted', use: 'Proxy called' },
  reactor: { create: 'Reactor created', update: 'Reactor updated', delete: 'Reactor deleted', use: 'Reactor run' },
  reactor_formula: { create: 'Formula created', update: 'Formula updated', delete: 'Formula deleted' },
  reactor_run: { delete: 'Run cancelled' },
  session: { authorize: 'Session authorized', delete: 'Session ended' },
  tenant: { create: 'Tenant created', update: 'Tenant updated', delete: 'Tenant closed' },
  token: {
    create: 'Token created',
    read: 'Token read',
    update: 'Token updated',
    delete: 'Token deleted',
    expire: 'Token expired',
  },
  user: { update: 'User updated', sign_in: 'Signed in' },
};

/** Changes that the service tells from others by their message alone. */
const byMessage: Readonly<Record<string, string>> = {
  'Key added to the Application': 'Key added',
  'Key removed from the Application': 'Key removed',
  'Key of the Application expired': 'Key expired',
  'Signed out': 'Signed out',
  'Sign-in link created for the User': 'Sign-in link created',
  'Link to sign in made for the User': 'Sign-in link created', // in rows of earlier versions
  'Invitation given a new link': 'Invitation link replaced',
  'Data keys of the Tenant rotated': 'Data keys rotated',
  'Card verification code removed': 'Security code removed',
};

type Row = Pick<Log, 'entity_type' | 'operation' | 'message' | 'detail'>;

/** In a few words. A kind of row that is not known yet says it in the words of the service. */
export function happeningOf(row: Row): string {
  const { entity_type: type, operation, message, detail } = row;
  const known = happenings[type]?.[operation];
  if (refusedUsesOf(detail).length > 0) return 'Use refused';
  if (guardHitsOf(detail)) return 'Value found in response';
  if (operation === 'update' && !message.endsWith(' updated')) return byMessage[message] ?? message;
  if (known === undefined) return message;
  if (typeof detail?.restored_version === 'number') return `Version ${detail.restored_version} restored`;
  const tokens = type === 'token' && Array.isArray(detail?.token_ids) ? detail.token_ids.length : 1;
  return tokens > 1 ? known.replace('Token', `${tokens} tokens`) : known;
}
