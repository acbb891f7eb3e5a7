import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { invocationSearch } from './invocation-search.ts';

const live = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invocations',
  validateSearch: invocationSearch,
  component: lazyRouteComponent(() => import('./invocations-page.tsx'), 'InvocationsPage'),
});

/** The page of the list shows it above the list, which goes on. `at` tells calls with the same trace id apart. */
const detail = createRoute({
  getParentRoute: () => live,
  path: '$traceId',
  validateSearch: (search): { at?: string } => textSearch(search, ['at']),
});

export const invocationRoutes = [live.addChildren([detail])] as const;
