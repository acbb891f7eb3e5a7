import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type PageSearch, pageSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';

const validateSearch = (search: Record<string, unknown>): PageSearch => pageSearch(search);

const tenant = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./tenant-settings.tsx'), 'TenantSettings'),
});

const people = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/people',
  validateSearch,
  component: lazyRouteComponent(() => import('./people.tsx'), 'People'),
});

const signIns = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/sign-ins',
  validateSearch,
  component: lazyRouteComponent(() => import('./sign-ins.tsx'), 'SignIns'),
});

const vault = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/vault',
  component: lazyRouteComponent(() => import('./vault-state.tsx'), 'VaultState'),
});

export const settingsRoutes = [tenant, people, signIns, vault] as const;
