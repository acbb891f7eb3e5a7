import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { invocationSearch } from './invocation-search.ts';

const live = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invocations',
  validateSearch: invocationSearch,
  component: lazyRouteComponent(() => import('./invocations-page.tsx'), 'InvocationsPage'),
});

export const invocationRoutes = [live] as const;
