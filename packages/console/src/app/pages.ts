import type { PermissionName } from '@sluice/sdk';
import type { Place } from './find.ts';

interface PageOfConsole {
  name: string;
  link: Place['link'];
  needs?: PermissionName;
  /** Other words by which people look for it. */
  words?: string;
}

const pages: readonly PageOfConsole[] = [
  { name: 'Overview', link: { to: '/' }, words: 'home metrics figures' },
  { name: 'Tokens', link: { to: '/tokens' }, needs: 'application:read', words: 'vault cards' },
  {
    name: 'Applications',
    link: { to: '/applications' },
    needs: 'application:read',
    words: 'api keys permissions rules',
  },
  { name: 'New Application', link: { to: '/applications/new' }, needs: 'application:create', words: 'create add key' },
  { name: 'Proxies', link: { to: '/proxies' }, needs: 'proxy:read', words: 'routes destinations' },
  { name: 'New Proxy', link: { to: '/proxies/new' }, needs: 'proxy:create', words: 'create add route' },
  { name: 'Reactors', link: { to: '/reactors' }, needs: 'reactor:read', words: 'code' },
  { name: 'New Reactor', link: { to: '/reactors/new' }, needs: 'reactor:create', words: 'create add' },
  { name: 'Formulas', link: { to: '/reactors/formulas' }, needs: 'reactor:read', words: 'reactors code' },
  { name: 'New formula', link: { to: '/reactors/formulas/new' }, needs: 'reactor:create', words: 'create add' },
  { name: 'Invocations', link: { to: '/invocations' }, needs: 'log:read', words: 'live calls requests traffic' },
  { name: 'Audit', link: { to: '/audit' }, needs: 'log:read', words: 'logs history' },
  { name: 'Audit › Checkpoint', link: { to: '/audit/checkpoint' }, needs: 'log:read', words: 'ledger proof' },
  { name: 'Settings › Tenant', link: { to: '/settings' }, needs: 'tenant:read', words: 'name fingerprint' },
  {
    name: 'Settings › People',
    link: { to: '/settings/people' },
    needs: 'tenant:member:read',
    words: 'members invitations',
  },
  { name: 'Settings › Sign-ins', link: { to: '/settings/sign-ins' }, words: 'sessions sign out' },
  {
    name: 'Settings › Keys and usage',
    link: { to: '/settings/vault' },
    needs: 'tenant:read',
    words: 'data keys report',
  },
];

/** The pages that the person may see and that fit each word of the text; all of them without a text. */
export function findPages(text: string, permissions: readonly PermissionName[]): Place[] {
  const asked = text.toLowerCase().split(/\s+/);
  return pages
    .filter(({ needs }) => needs === undefined || permissions.includes(needs))
    .filter(({ name, words = '' }) => asked.every((word) => `${name} ${words}`.toLowerCase().includes(word)))
    .map(({ name, link }) => ({ group: 'Pages', name, link }));
}
