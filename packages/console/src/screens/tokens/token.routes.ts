import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { sizeSearch, textSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { type TokenSearch, tokenFilters } from './token-search.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/tokens',
  validateSearch: (search): TokenSearch => ({ ...sizeSearch(search), ...textSearch(search, tokenFilters) }),
  component: lazyRouteComponent(() => import('./token-list.tsx'), 'TokenList'),
});

const detail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/tokens/$id',
  /** Where the page of its log begins. */
  validateSearch: (search): { start?: string } => textSearch(search, ['start']),
  component: lazyRouteComponent(() => import('./token-detail.tsx'), 'TokenDetail'),
});

export const tokenRoutes = [list, detail] as const;
