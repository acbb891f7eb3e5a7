import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type EmailSearch, emailSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';

const tenant = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./tenant-settings.tsx'), 'TenantSettings'),
});

const people = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/people',
  /** Of the members, and apart of the invitations. */
  validateSearch: ({ invitations, ...members }): EmailSearch & { invitations?: EmailSearch } => {
    const invited = emailSearch(Object(invitations));
    return { ...emailSearch(members), ...(Object.keys(invited).length > 0 && { invitations: invited }) };
  },
  component: lazyRouteComponent(() => import('./people.tsx'), 'People'),
});

const signIns = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/sign-ins',
  validateSearch: (search): EmailSearch => emailSearch(search),
  component: lazyRouteComponent(() => import('./sign-ins.tsx'), 'SignIns'),
});

const vault = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/vault',
  component: lazyRouteComponent(() => import('./vault-state.tsx'), 'VaultState'),
});

export const settingsRoutes = [tenant, people, signIns, vault] as const;
