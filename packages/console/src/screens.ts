import { applicationRoutes } from './screens/applications/application.routes.ts';
import { auditRoutes } from './screens/audit/audit.routes.ts';
import { invocationRoutes } from './screens/invocations/invocation.routes.ts';
import { overviewRoutes } from './screens/overview/overview.routes.ts';
import { proxyRoutes } from './screens/proxies/proxy.routes.ts';
import { formulaRoutes } from './screens/reactor-formulas/formula.routes.ts';
import { reactorRoutes } from './screens/reactors/reactor.routes.ts';
import { settingsRoutes } from './screens/settings/settings.routes.ts';
import { tokenRoutes } from './screens/tokens/token.routes.ts';

export const routes = [
  ...overviewRoutes,
  ...tokenRoutes,
  ...applicationRoutes,
  ...proxyRoutes,
  ...reactorRoutes,
  ...formulaRoutes,
  ...invocationRoutes,
  ...auditRoutes,
  ...settingsRoutes,
] as const;
