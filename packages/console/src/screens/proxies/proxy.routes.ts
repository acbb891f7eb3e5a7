import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type NameSearch, nameSearch, type PageSearch, pageSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { rangeSearch } from '../../metrics/range.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/proxies',
  validateSearch: (search): NameSearch => nameSearch(search),
  component: lazyRouteComponent(() => import('./proxy-list.tsx'), 'ProxyList'),
});

const create = createRoute({
  getParentRoute: () => rootRoute,
  path: '/proxies/new',
  component: lazyRouteComponent(() => import('./proxy-new.tsx'), 'ProxyNew'),
});

const detail = createRoute({
  getParentRoute: () => rootRoute,
  path: '/proxies/$id',
  component: lazyRouteComponent(() => import('./proxy-detail.tsx'), 'ProxyDetail'),
});

const settings = createRoute({
  getParentRoute: () => detail,
  path: '/',
  validateSearch: rangeSearch,
  component: lazyRouteComponent(() => import('./proxy-settings.tsx'), 'ProxySettings'),
});

const request = createRoute({
  getParentRoute: () => detail,
  path: '/request',
  component: lazyRouteComponent(() => import('./proxy-transforms.tsx'), 'RequestTransform'),
});

const response = createRoute({
  getParentRoute: () => detail,
  path: '/response',
  component: lazyRouteComponent(() => import('./proxy-transforms.tsx'), 'ResponseTransform'),
});

const versions = createRoute({
  getParentRoute: () => detail,
  path: '/versions',
  /** `version` is the one to compare with the present Proxy. */
  validateSearch: (search): PageSearch & { version?: number } => ({
    ...pageSearch(search),
    ...(typeof search.version === 'number' && { version: search.version }),
  }),
  component: lazyRouteComponent(() => import('./proxy-versions.tsx'), 'ProxyVersions'),
});

export const proxyRoutes = [list, create, detail.addChildren([settings, request, response, versions])] as const;
