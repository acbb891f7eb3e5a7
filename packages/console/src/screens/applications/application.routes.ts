import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type NameSearch, nameSearch, textSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { type RangeSearch, rangeSearch } from '../../metrics/range.ts';
import { type ApplicationType, isApplicationType } from './application-types.ts';

interface ListSearch extends NameSearch {
  type?: ApplicationType;
}

const questions = ['token', 'proxy', 'method', 'path', 'revealing', 'place'] as const;

/** `token` is of the question about a token, the others are of the question about a call. */
type QuestionSearch = Partial<Record<(typeof questions)[number], string>>;

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/applications',
  validateSearch: (search): ListSearch => ({
    ...nameSearch(search),
    ...(isApplicationType(search.type) && { type: search.type }),
  }),
  component: lazyRouteComponent(() => import('./application-list.tsx'), 'ApplicationList'),
});

const create = createRoute({
  getParentRoute: () => rootRoute,
  path: '/applications/new',
  // Not the permissions themselves, so that no link from elsewhere chooses them
  validateSearch: (search): { start?: 'first-call' } => (search.start === 'first-call' ? { start: search.start } : {}),
  component: lazyRouteComponent(() => import('./application-new.tsx'), 'ApplicationNew'),
});

const detail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/applications/$id',
  validateSearch: (search): QuestionSearch & RangeSearch => ({
    ...textSearch(search, questions),
    ...rangeSearch(search),
  }),
  component: lazyRouteComponent(() => import('./application-detail.tsx'), 'ApplicationDetail'),
});

export const applicationRoutes = [list, create, detail] as const;
