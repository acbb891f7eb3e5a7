import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type PageSearch, pageSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';

interface ListSearch extends PageSearch {
  name?: string;
}

interface DetailSearch {
  /** Where a page of its runs begins. */
  start?: string;
}

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors',
  validateSearch: (search): ListSearch => ({
    ...pageSearch(search),
    ...(typeof search.name === 'string' && search.name && { name: search.name }),
  }),
  component: lazyRouteComponent(() => import('./reactor-list.tsx'), 'ReactorList'),
});

const create = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/new',
  component: lazyRouteComponent(() => import('./reactor-new.tsx'), 'ReactorNew'),
});

const detail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/$id',
  validateSearch: ({ start }: Record<string, unknown>): DetailSearch =>
    typeof start === 'string' && start ? { start } : {},
  component: lazyRouteComponent(() => import('./reactor-detail.tsx'), 'ReactorDetail'),
});

export const reactorRoutes = [list, create, detail] as const;
