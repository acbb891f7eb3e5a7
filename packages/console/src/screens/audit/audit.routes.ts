import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textSearch } from '../../app/page-search.ts';
import { rootRoute } from '../../app/root-route.tsx';
import { type AuditSearch, auditSearch } from './audit-search.ts';

const log = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: (search): AuditSearch => auditSearch(search),
  component: lazyRouteComponent(() => import('./audit-log.tsx'), 'AuditLog'),
});

const checkpoint = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit/checkpoint',
  component: lazyRouteComponent(() => import('./audit-checkpoint.tsx'), 'AuditCheckpoint'),
});

const row = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit/$id',
  /** The API can only list rows, so the address of a row says where in the list it is. */
  validateSearch: (search): { entity_id?: string; at?: string } => textSearch(search, ['entity_id', 'at']),
  component: lazyRouteComponent(() => import('./audit-row.tsx'), 'AuditRow'),
});

export const auditRoutes = [log, checkpoint, row] as const;
