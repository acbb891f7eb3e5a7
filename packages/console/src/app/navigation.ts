import type { IconName } from '../ui/icon.tsx';

interface NavigationItem {
  to: string;
  name: string;
  icon: IconName;
}

/** The entries of the navigation at the side, in order. */
export const navigation: readonly NavigationItem[] = [
  { to: '/', name: 'Overview', icon: 'overview' },
  { to: '/tokens', name: 'Tokens', icon: 'tokens' },
  { to: '/applications', name: 'Applications', icon: 'applications' },
  { to: '/proxies', name: 'Proxies', icon: 'proxies' },
  { to: '/reactors', name: 'Reactors', icon: 'reactors' },
  { to: '/invocations', name: 'Invocations', icon: 'invocations' },
  { to: '/audit', name: 'Audit', icon: 'audit' },
  { to: '/settings', name: 'Settings', icon: 'settings' },
];
