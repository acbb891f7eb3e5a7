import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';
import { rangeSearch } from '../../metrics/range.ts';

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/',
    validateSearch: rangeSearch,
    component: lazyRouteComponent(() => import('./overview.tsx'), 'Overview'),
  }),
] as const;
