import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type ListSearch, type NameSearch, nameSearch, sizeSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/formulas',
  validateSearch: (search): NameSearch => nameSearch(search),
  component: lazyRouteComponent(() => import('./formula-list.tsx'), 'FormulaList'),
});

const create = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/formulas/new',
  component: lazyRouteComponent(() => import('./formula-new.tsx'), 'FormulaNew'),
});

const detail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reactors/formulas/$id',
  /** The page of the Reactors that run it. */
  validateSearch: (search): ListSearch<never> => sizeSearch(search),
  component: lazyRouteComponent(() => import('./formula-detail.tsx'), 'FormulaDetail'),
});

export const formulaRoutes = [list, create, detail] as const;
