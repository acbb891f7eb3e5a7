import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type NameSearch, nameSearch, textSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { type RangeSearch, rangeSearch } from '../../metrics/range.ts';

interface NewSearch {
  formula?: string;
}

interface DetailSearch extends RangeSearch {
  /** Where a page of its runs begins. */
  start?: string;
}

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors',
  validateSearch: (search): NameSearch => nameSearch(search),
  component: lazyRouteComponent(() => import('./reactor-list.tsx'), 'ReactorList'),
});

const create = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/new',
  /** `formula` is what the new Reactor is to run. */
  validateSearch: (search): NewSearch => textSearch(search, ['formula']),
  component: lazyRouteComponent(() => import('./reactor-new.tsx'), 'ReactorNew'),
});

const detail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/$id',
  validateSearch: (search): DetailSearch => ({ ...textSearch(search, ['start']), ...rangeSearch(search) }),
  component: lazyRouteComponent(() => import('./reactor-detail.tsx'), 'ReactorDetail'),
});

export const reactorRoutes = [list, create, detail] as const;
